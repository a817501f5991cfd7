import type { VNode } from 'preact';

/** renderCommands renders a text, with the parts between backquotes as `<code>` elements. */
export function renderCommands(commandText: string): (string | VNode)[] {
  return commandText.split('`').map((piece, i) => (i % 2 === 1 ? <code key={piece}>{piece}</code> : piece));
}

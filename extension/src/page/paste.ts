// Text for editors that draw their text themselves (EditContext), which the browser does not type into for a script.
import { PageFailure } from './failure.ts';
import { parseKey, sendKey } from './keys.ts';
import { giveFocus } from './pointer.ts';

/** editContextText returns the text that an editor with an EditContext keeps, and undefined for other elements. */
export function editContextText(element: Element): string | undefined {
  const context: unknown = Reflect.get(element, 'editContext');
  const text: unknown = typeof context === 'object' && context !== null ? Reflect.get(context, 'text') : undefined;
  return typeof text === 'string' ? text : undefined;
}

/** pasteText replaces the text of an editor, or adds to it, by the event of a paste. Fails if the editor ignores it. */
export function pasteText(editor: Element, text: string, append: boolean): void {
  giveFocus(editor);
  sendKey(editor, 'keydown', parseKey(append ? 'Control+End' : 'Control+a'));
  const clipboardData = new DataTransfer();
  clipboardData.setData('text/plain', text);
  const paste = new ClipboardEvent('paste', { bubbles: true, cancelable: true, composed: true, clipboardData });
  if (editor.dispatchEvent(paste))
    throw new PageFailure(
      'rejected',
      'The editor did not take the text. It may take only trusted keys, which need the debugger.',
    );
}

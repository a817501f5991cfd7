// Finds the tools that undo calls, and describes how far a call is undone.

import type { CallUndo, CallView, PluginView } from '../../../wire/wire.gen.ts';

/** undoToolOf returns the tool that undoes a call; undefined if the call is not done or its tool declares none. */
export function undoToolOf(plugins: readonly PluginView[], call: CallView): string | undefined {
  if (call.status !== 'done' || call.prompt) return undefined;
  const tools = plugins.find((plugin) => plugin.name === call.plugin)?.tools;
  return tools?.find((tool) => tool.name === call.tool)?.undo;
}

/** undoText describes the call of the tool undoTool that undoes another call. */
export function undoText({ state, by }: CallUndo, undoTool: string): string {
  switch (state) {
    case 'started':
      return `${undoTool} is undoing this call, as ${by}.`;
    case 'undone':
      return `Undone by ${undoTool}, as ${by}.`;
    case 'unknown':
      return `${undoTool} may have undone this call, as ${by}, but its result did not arrive. Check the page.`;
  }
}

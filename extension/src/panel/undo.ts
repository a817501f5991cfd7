// Finds the tool that undoes a call, and describes the state of an undo to the user.

import type { CallUndo, CallView, PluginView } from '../../../wire/wire.gen.ts';

/**
 * findUndoTool returns the name of the tool that undoes a finished call, or undefined if the plugin's author declared
 * none.
 */
export function findUndoTool(plugins: readonly PluginView[], call: CallView): string | undefined {
  if (call.status !== 'done' || call.prompt) return undefined;
  const tools = plugins.find((plugin) => plugin.name === call.plugin)?.tools;
  return tools?.find((tool) => tool.name === call.tool)?.undo;
}

export function describeUndo({ state: undoState, by: undoneBy }: CallUndo, undoTool: string): string {
  switch (undoState) {
    case 'started':
      return `${undoTool} is undoing this call, as ${undoneBy}.`;
    case 'undone':
      return `Undone by ${undoTool}, as ${undoneBy}.`;
    case 'unknown':
      return `${undoTool} may have undone this call, as ${undoneBy}, but its result did not arrive. Check the page.`;
  }
}

// Finds the tools that undo calls.

import type { CallView, PluginView } from '../../../wire/wire.gen.ts';

/** undoToolOf returns the tool that undoes a call; undefined if the call is not done or its tool declares none. */
export function undoToolOf(plugins: readonly PluginView[], call: CallView): string | undefined {
  if (call.status !== 'done' || call.prompt) return undefined;
  const tools = plugins.find((plugin) => plugin.name === call.plugin)?.tools;
  return tools?.find((tool) => tool.name === call.tool)?.undo;
}

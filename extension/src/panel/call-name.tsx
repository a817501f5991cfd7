import type { VNode } from 'preact';
import type { CallView } from '../../../wire/wire.gen.ts';
import { removeHidden, toolText } from './wording.ts';

/**
 * CallName shows the plugin and the tool or prompt of a call, and truncates a long plugin name so that the tool
 * name stays visible.
 */
export function CallName({ call: { plugin, tool, prompt } }: { readonly call: CallView }): VNode {
  const isBrowserTool = toolText({ plugin, tool }) === tool;
  return (
    <span class="name" title={removeHidden(isBrowserTool ? tool : `${plugin}__${tool}`)}>
      {!isBrowserTool && <bdi class="plugin">{removeHidden(plugin)}</bdi>} <bdi class="tool">{removeHidden(tool)}</bdi>
      {prompt && <span class="prompt"> prompt</span>}
    </span>
  );
}

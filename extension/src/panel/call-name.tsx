import type { VNode } from 'preact';
import type { CallView } from '../../../wire/wire.gen.ts';
import { formatToolName, removeHiddenCharacters } from './wording.ts';

/**
 * CallName shows the plugin and the tool or prompt of a call, and truncates a long plugin name so that the tool
 * name stays visible.
 */
export function CallName({ call: { plugin, tool, prompt } }: { readonly call: CallView }): VNode {
  const isBrowserTool = formatToolName({ plugin, tool }) === tool;
  return (
    <span class="name" title={removeHiddenCharacters(isBrowserTool ? tool : `${plugin}__${tool}`)}>
      {!isBrowserTool && <bdi class="plugin">{removeHiddenCharacters(plugin)}</bdi>}{' '}
      <bdi class="tool">{removeHiddenCharacters(tool)}</bdi>
      {prompt && <span class="prompt"> prompt</span>}
    </span>
  );
}

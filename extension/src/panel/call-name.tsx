import type { VNode } from 'preact';
import type { CallView } from '../../../wire/wire.gen.ts';
import { formatToolName, removeHiddenCharacters } from './wording.ts';

/** CallName truncates a long plugin name so that the name of the tool or prompt stays visible. */
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

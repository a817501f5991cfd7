import type { VNode } from 'preact';
import type { CallView } from '../../../wire/wire.gen.ts';
import { toolText } from './wording.ts';

/** CallName shows the plugin and the tool or prompt of a call. */
export function CallName({ call: { plugin, tool, prompt } }: { readonly call: CallView }): VNode {
  const isBrowserTool = toolText({ plugin, tool }) === tool;
  return (
    <span class="name" title={isBrowserTool ? tool : `${plugin}__${tool}`}>
      {!isBrowserTool && <span class="plugin">{plugin}</span>} {tool}
      {prompt && <span class="prompt"> prompt</span>}
    </span>
  );
}

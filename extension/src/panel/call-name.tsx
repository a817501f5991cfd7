import type { VNode } from 'preact';
import type { CallView } from '../../../wire/wire.gen.ts';

/** CallName shows the plugin and the tool or prompt of a call. */
export function CallName({ call: { plugin, tool, prompt } }: { readonly call: CallView }): VNode {
  return (
    <span class="name" title={`${plugin}__${tool}`}>
      <span class="plugin">{plugin}</span> {tool}
      {prompt && <span class="prompt"> prompt</span>}
    </span>
  );
}

import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { PluginView } from '../../../wire/wire.gen.ts';
import { ErrorText, Switch } from './choice.tsx';
import { usePanelAction } from './panel-action.ts';
import type { Act } from './requests.ts';
import { lateEffect, removeHidden } from './wording.ts';

interface CallingProps {
  readonly plugin: PluginView;
  /** others are the names of the other plugins. */
  readonly others: readonly string[];
  readonly act: Act;
}

/** Calling lists the plugins that a plugin may call and those it was denied, and offers to add others. */
export function Calling({ plugin, others, act }: CallingProps): VNode | null {
  const { busy, error, run } = usePanelAction(act);
  const { name } = plugin;
  const calls = plugin.calls ?? [];
  const refused = plugin.refused ?? [];
  const [open, setOpen] = useState(false);
  const set = (other: string, allowed: boolean) => run({ op: 'calls', params: { plugin: name, other, allowed } });
  const listed = [...calls, ...refused];
  const rest = others.filter((other) => other !== name && !listed.includes(other));
  if (listed.length + rest.length === 0) return null;
  const shown = open || refused.length > 0;
  return (
    <details class="calling" open={shown} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary class="fold">
        {calls.length === 0 ? 'May call no other plugin' : `May call ${calls.map(removeHidden).join(', ')}`}
        {refused.length > 0 && <span class="needs">a call was denied</span>}
      </summary>
      <ul>
        {listed.map((other) => (
          <li key={other}>
            <Switch
              label={`May call ${removeHidden(other)}`}
              current={calls.includes(other)}
              busy={busy}
              send={(on) => set(other, on)}
            />
            {refused.includes(other) && <span class="note"> The plugin tried to call it.</span>}
          </li>
        ))}
      </ul>
      {shown && rest.length > 0 && (
        <select
          aria-label={`Allow ${name} to call another plugin`}
          value=""
          onChange={(event) => {
            const other = event.currentTarget.value;
            if (other) void set(other, true);
          }}
        >
          <option value="">Allow calls to another plugin…</option>
          {rest.map((other) => (
            <option key={other} value={other}>
              {removeHidden(other)}
            </option>
          ))}
        </select>
      )}
      <ErrorText text={error} />
    </details>
  );
}

/** LateAccess switches whether a late plugin gets its secret settings and may call other plugins. */
export function LateAccess({ plugin, act }: { readonly plugin: PluginView; readonly act: Act }): VNode | null {
  const { busy, error, run } = usePanelAction(act);
  if (!plugin.late) return null;
  return (
    <div class="late">
      <Switch
        label="Secret settings and calls to other plugins"
        current={plugin.lateAccess === true}
        busy={busy}
        send={(allowed) => run({ op: 'lateAccess', params: { plugin: plugin.name, allowed } })}
      />
      <p class="note">{lateEffect}</p>
      <ErrorText text={error} />
    </div>
  );
}

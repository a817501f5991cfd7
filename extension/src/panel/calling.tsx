import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { PluginView } from '../../../wire/wire.gen.ts';
import { usePanelAction } from './panel-action.ts';
import type { Act } from './requests.ts';
import { lateEffect, removeHidden } from './wording.ts';

interface SwitchProps {
  readonly label: string;
  /** current is the server's value. */
  readonly current: boolean;
  readonly busy: boolean;
  /** choose returns false if the server rejected the change. */
  choose(on: boolean): Promise<boolean>;
}

/** Switch shows a choice at once and reverts it if the server rejects the change. */
function Switch({ label, current, busy, choose }: SwitchProps): VNode {
  const [chosen, setChosen] = useState<{ on: boolean; before: boolean }>();
  const on = chosen?.before === current ? chosen.on : current;
  // Drop the choice, or it would show again when another surface restores the old value.
  if (chosen && chosen.before !== current) setChosen(undefined);
  const change = async (next: boolean) => {
    setChosen({ on: next, before: current });
    if (!(await choose(next))) setChosen(undefined);
  };
  return (
    <label>
      <input
        type="checkbox"
        role="switch"
        aria-checked={on}
        checked={on}
        aria-busy={busy}
        onChange={(event) => void change(event.currentTarget.checked)}
      />{' '}
      {label}
    </label>
  );
}

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
  const set = async (other: string, allowed: boolean) =>
    (await run({ op: 'calls', params: { plugin: name, other, allowed } })).error === undefined;
  const listed = [...calls, ...refused];
  const rest = others.filter((other) => other !== name && !listed.includes(other));
  if (listed.length + rest.length === 0) return null;
  const shown = open || refused.length > 0;
  return (
    <details class="calling" open={shown} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary class="fold">
        {calls.length === 0 ? 'May call no other plugin' : `May call ${calls.map(removeHidden).join(', ')}`}
        {refused.length > 0 && <span class="needs">was denied a call</span>}
      </summary>
      <ul>
        {listed.map((other) => (
          <li key={other}>
            <Switch
              label={`May call ${removeHidden(other)}`}
              current={calls.includes(other)}
              busy={busy}
              choose={(on) => set(other, on)}
            />
            {refused.includes(other) && <span class="note"> Tried to call it.</span>}
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
      {error && (
        <p class="error" role="alert">
          {error}
        </p>
      )}
    </details>
  );
}

/** LateAccess switches whether a late plugin gets its secret settings and may call other plugins. */
export function LateAccess({ plugin, act }: { readonly plugin: PluginView; readonly act: Act }): VNode | null {
  const { busy, error, run } = usePanelAction(act);
  if (!plugin.late) return null;
  const choose = async (allowed: boolean) =>
    (await run({ op: 'lateAccess', params: { plugin: plugin.name, allowed } })).error === undefined;
  return (
    <div class="late">
      <Switch
        label="Secret settings and calls to other plugins"
        current={plugin.lateAccess === true}
        busy={busy}
        choose={choose}
      />
      <p class="note">{lateEffect}</p>
      {error && (
        <p class="error" role="alert">
          {error}
        </p>
      )}
    </div>
  );
}

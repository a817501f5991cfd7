import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { PluginView } from '../../../wire/wire.gen.ts';
import { usePressed } from './pressed.ts';
import type { Act } from './requests.ts';
import { lateMeaning, plain } from './wording.ts';

interface SwitchProps {
  readonly label: string;
  /** holds is what the server says. */
  readonly holds: boolean;
  readonly busy: boolean;
  /** choose returns false if the server refused. */
  choose(on: boolean): Promise<boolean>;
}

/** Switch shows a choice at once, and goes back to what holds if the server refuses. */
function Switch({ label, holds, busy, choose }: SwitchProps): VNode {
  const [chosen, setChosen] = useState<{ on: boolean; before: boolean }>();
  const on = chosen?.before === holds ? chosen.on : holds;
  // Forgotten, not only hidden: it must not come back when another surface sets what held before.
  if (chosen && chosen.before !== holds) setChosen(undefined);
  const change = async (next: boolean) => {
    setChosen({ on: next, before: holds });
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

/** Calling is which other plugins a plugin may call: those it may, those it tried to, and a choice of the rest. */
export function Calling({ plugin, others, act }: CallingProps): VNode | null {
  const { busy, error, run } = usePressed(act);
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
        {calls.length === 0 ? 'Calls no other plugin' : `May call ${calls.map(plain).join(', ')}`}
        {refused.length > 0 && <span class="needs">was refused a call</span>}
      </summary>
      <ul>
        {listed.map((other) => (
          <li key={other}>
            <Switch
              label={`May call ${plain(other)}`}
              holds={calls.includes(other)}
              busy={busy}
              choose={(on) => set(other, on)}
            />
            {refused.includes(other) && <span class="note"> It tried to.</span>}
          </li>
        ))}
      </ul>
      {shown && rest.length > 0 && (
        <select
          aria-label={`Let ${name} call another plugin`}
          value=""
          onChange={(event) => {
            const other = event.currentTarget.value;
            if (other) void set(other, true);
          }}
        >
          <option value="">Let it call another plugin…</option>
          {rest.map((other) => (
            <option key={other} value={other}>
              {plain(other)}
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

/** LateAccess is whether a plugin that starts late gets its secret settings and may call other plugins. */
export function LateAccess({ plugin, act }: { readonly plugin: PluginView; readonly act: Act }): VNode | null {
  const { busy, error, run } = usePressed(act);
  if (!plugin.late) return null;
  const choose = async (allowed: boolean) =>
    (await run({ op: 'lateAccess', params: { plugin: plugin.name, allowed } })).error === undefined;
  return (
    <div class="late">
      <Switch
        label="Secret settings and calls to other plugins"
        holds={plugin.lateAccess === true}
        busy={busy}
        choose={choose}
      />
      <p class="note">{lateMeaning}</p>
      {error && (
        <p class="error" role="alert">
          {error}
        </p>
      )}
    </div>
  );
}

import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { PluginView, ToolView } from '../../../wire/wire.gen.ts';
import { PermissionSelect } from './permission-select.tsx';
import { hashGroups, matching, ownCount, sitesOf } from './plugin-words.ts';
import { usePressed } from './pressed.ts';
import type { Act } from './requests.ts';
import { plain } from './wording.ts';

/** ManyPlugins is from how many plugins on there is a field to find one. */
const ManyPlugins = 8;

export interface PluginsProps {
  /** plugins is absent until the server has told of them. */
  readonly plugins: readonly PluginView[] | undefined;
  readonly act: Act;
}

/** Plugins shows what is installed and what agents may do with it. */
export function Plugins({ plugins, act }: PluginsProps): VNode {
  const [sought, setSought] = useState('');
  const all = plugins ?? [];
  return (
    <section aria-labelledby="plugins">
      <h2 id="plugins">Plugins {plugins && <span class="count">{all.length}</span>}</h2>
      {plugins?.length === 0 && (
        <p class="empty">
          No plugin is installed. Add one with <code>opentabs plugin add</code>.
        </p>
      )}
      {all.length >= ManyPlugins && (
        <input
          class="find"
          type="search"
          placeholder="Find a plugin or tool"
          aria-label="Find a plugin or tool"
          value={sought}
          onInput={(event) => setSought(event.currentTarget.value)}
        />
      )}
      <ul class="plugins">
        {matching(all, sought).map((plugin) => (
          <Plugin key={plugin.name} plugin={plugin} act={act} />
        ))}
      </ul>
    </section>
  );
}

function Plugin({ plugin, act }: { readonly plugin: PluginView; readonly act: Act }): VNode {
  const { name, displayName, version, reviewed, permission } = plugin;
  const shownName = plain(displayName) || name;
  return (
    <li class={reviewed ? '' : 'unreviewed'}>
      <div class="head">
        <span class="title" title={name}>
          {shownName} <span class="version">{plain(version)}</span>
        </span>
        {reviewed && (
          <PermissionSelect label={`Permission of ${shownName}`} plugin={name} permission={permission} act={act} />
        )}
      </div>
      <p class="sites">{sitesOf(plugin.matches ?? [])}</p>
      {reviewed ? <Tools plugin={plugin} act={act} /> : <Review key={plugin.hash} plugin={plugin} act={act} />}
    </li>
  );
}

/** Tools are a plugin's tools, each with a permission of its own or the plugin's. */
function Tools({ plugin, act }: { readonly plugin: PluginView; readonly act: Act }): VNode {
  const [open, setOpen] = useState(false);
  const tools = plugin.tools ?? [];
  const own = ownCount(tools);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary class="fold">
        {tools.length === 1 ? '1 tool' : `${tools.length} tools`}
        {own > 0 && `, ${own} with ${own === 1 ? 'its' : 'their'} own permission`}
      </summary>
      {open && (
        <ul class="tools">
          {tools.map((tool) => (
            <li key={tool.name}>
              <ToolName tool={tool} />
              <PermissionSelect
                label={`Permission of ${tool.name}`}
                plugin={plugin.name}
                tool={tool.name}
                permission={tool.permission}
                inherited={plugin.permission}
                act={act}
              />
            </li>
          ))}
        </ul>
      )}
    </details>
  );
}

function ToolName({ tool }: { readonly tool: ToolView }): VNode {
  return (
    <span class="tool" title={plain(tool.displayName)}>
      {tool.name}
      {tool.readOnly && <span class="reads">only reads</span>}
    </span>
  );
}

/** Review shows a plugin that no person has allowed as it is now, and lets one do that. Its key is the hash: another content closes it. */
function Review({ plugin, act }: { readonly plugin: PluginView; readonly act: Act }): VNode {
  const [open, setOpen] = useState(false);
  const { busy, error, run } = usePressed(act);
  const { name, hash } = plugin;
  const allow = (permission: 'ask' | 'auto') => void run({ op: 'review', params: { plugin: name, hash, permission } });
  if (!open) {
    return (
      <div class="review">
        <p>New or changed. Agents can’t use it until you have reviewed it.</p>
        <button type="button" aria-label={`Review ${name}`} onClick={() => setOpen(true)}>
          Review
        </button>
      </div>
    );
  }
  const tools = plugin.tools ?? [];
  return (
    <div class="review">
      <p>Its code can do in these sites all that you can do there. Allow it only if you trust where you got it.</p>
      <dl>
        <dt>Sites</dt>
        <dd>
          {(plugin.matches ?? []).map((site) => (
            <code key={site}>{site}</code>
          ))}
        </dd>
        <dt>Tools</dt>
        <dd>
          <ul class="tools">
            {tools.map((tool) => (
              <li key={tool.name}>
                <ToolName tool={tool} />
              </li>
            ))}
          </ul>
        </dd>
        <dt>Code, SHA-256</dt>
        <dd class="hash">{hashGroups(hash)}</dd>
      </dl>
      <div class="answers">
        <button type="button" disabled={busy} onClick={() => setOpen(false)}>
          Not now
        </button>
        <button type="button" disabled={busy} onClick={() => allow('ask')}>
          Allow, ask each time
        </button>
        <button type="button" disabled={busy} onClick={() => allow('auto')}>
          Allow without asking
        </button>
      </div>
      {error && (
        <p class="error" role="alert">
          {error}
        </p>
      )}
    </div>
  );
}

import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { FailedPluginView, PluginView, ToolView } from '../../../wire/wire.gen.ts';
import type { PanelTab } from '../panel-message.ts';
import { LateAccess, NestedCallPermissions } from './calling.tsx';
import { ErrorText, Switch } from './choice.tsx';
import { usePanelAction } from './panel-action.ts';
import { PermissionSelect } from './permission-select.tsx';
import {
  countOwnPermissions,
  findPlugins,
  hashGroups,
  iconUrl,
  type Readiness,
  readinessOf,
  siteNames,
  toolGroups,
} from './plugin-words.ts';
import type { Act } from './requests.ts';
import { Settings } from './settings-form.tsx';
import { lateEffect, removeHidden, worldEffect } from './wording.ts';

/** MinPluginsForSearch is the number of plugins from which a search field is shown. */
const MinPluginsForSearch = 8;

export interface PluginsProps {
  /** plugins is undefined until the server sends the list. */
  readonly plugins: readonly PluginView[] | undefined;
  /** failed are the plugins that could not be loaded. */
  readonly failed: readonly FailedPluginView[];
  readonly tabs: readonly PanelTab[];
  readonly act: Act;
}

/** Plugins lists the installed plugins with their permissions, settings and reviews. */
export function Plugins({ plugins, failed, tabs, act }: PluginsProps): VNode {
  const [query, setQuery] = useState('');
  const allPlugins = plugins ?? [];
  return (
    <section aria-labelledby="plugins">
      <h2 id="plugins">Plugins {plugins && <span class="count">{allPlugins.length}</span>}</h2>
      {plugins?.length === 0 && failed.length === 0 && (
        <p class="empty">
          No plugin is installed. Install one with <code>opentabs plugin install</code>.
        </p>
      )}
      {allPlugins.length >= MinPluginsForSearch && (
        <input
          class="find"
          type="search"
          placeholder="Find a plugin or tool"
          aria-label="Find a plugin or tool"
          value={query}
          onInput={(event) => setQuery(event.currentTarget.value)}
        />
      )}
      <ul class="plugins">
        {findPlugins(allPlugins, query).map((plugin) => (
          <Plugin
            key={plugin.name}
            plugin={plugin}
            readiness={readinessOf(plugin.name, tabs)}
            allPlugins={allPlugins}
            act={act}
          />
        ))}
        {failed.map((one) => (
          <li key={one.path} class="failed">
            <span class="title">{one.name ?? 'A plugin'} could not be loaded</span>
            <p class="sites">{removeHidden(one.path)}</p>
            <p class="error">{removeHidden(one.error)}</p>
          </li>
        ))}
      </ul>
    </section>
  );
}

interface PluginProps {
  readonly plugin: PluginView;
  readonly readiness: Readiness;
  /** allPlugins contains the installed plugins, including plugins that a search hides. */
  readonly allPlugins: readonly PluginView[];
  readonly act: Act;
}

const readinessWords = {
  closed: 'no tab open',
  unavailable: 'tab open, not ready',
  ready: 'ready',
} as const;

function Plugin({ plugin, readiness, allPlugins, act }: PluginProps): VNode {
  const { name, displayName, version, reviewed, permission, homepage } = plugin;
  const shownName = removeHidden(displayName) || name;
  const icon = iconUrl(plugin.icon);
  return (
    <li class={reviewed ? '' : 'unreviewed'}>
      <div class="head">
        <span class="title" title={name}>
          {icon && <img class="icon" src={icon} alt="" />}
          {shownName} <span class="version">{removeHidden(version)}</span>
          {reviewed && (
            <span
              class={`dot ${readiness}`}
              role="img"
              aria-label={readinessWords[readiness]}
              title={readinessWords[readiness]}
            />
          )}
        </span>
        {reviewed && (
          <PermissionSelect label={`Permission of ${shownName}`} plugin={name} permission={permission} act={act} />
        )}
      </div>
      <p class="sites">
        {siteNames(plugin.matches ?? []) || 'No site yet. Enter a site in the settings.'}
        {homepage && (
          <>
            {' '}
            <a href={homepage} target="_blank" rel="noreferrer">
              Homepage
            </a>
          </>
        )}
      </p>
      {plugin.problem && <p class="error">Failed: {removeHidden(plugin.problem)}</p>}
      <Recommended plugin={plugin} />
      {reviewed ? <Tools plugin={plugin} act={act} /> : <Review key={plugin.hash} plugin={plugin} act={act} />}
      {reviewed && <Settings plugin={plugin} act={act} />}
      {reviewed && plugin.opensAt && <Opening plugin={plugin} opensAt={plugin.opensAt} act={act} />}
      {reviewed && <LateAccess plugin={plugin} act={act} />}
      {reviewed && (
        <NestedCallPermissions plugin={plugin} otherPlugins={allPlugins.map((other) => other.name)} act={act} />
      )}
    </li>
  );
}

/** Recommended shows an agent's recommendation about a plugin. Showing a recommendation changes no permission. */
function Recommended({ plugin }: { readonly plugin: PluginView }): VNode | null {
  const { recommended } = plugin;
  if (!recommended) return null;
  const note = removeHidden(recommended.note ?? '');
  return (
    <div class="advice" role="note">
      <p>
        {removeHidden(recommended.by) || 'An agent'} has reviewed this plugin and recommends the permission{' '}
        {recommended.permission}. Only you can allow it.
      </p>
      {note && <blockquote>{note}</blockquote>}
    </div>
  );
}

interface OpeningProps {
  readonly plugin: PluginView;
  readonly opensAt: string;
  readonly act: Act;
}

/** Opening switches whether a call may open a tab if none matches. */
function Opening({ plugin, opensAt, act }: OpeningProps): VNode {
  const { isBusy, error, run } = usePanelAction(act);
  return (
    <div class="opening">
      <Switch
        label={
          <>
            Calls may open a tab <span class="host">{removeHidden(opensAt)}</span>
          </>
        }
        current={plugin.opening === true}
        busy={isBusy}
        send={(allowed) => run({ op: 'opening', params: { plugin: plugin.name, allowed } })}
      />
      <ErrorText text={error} />
    </div>
  );
}

/** Tools lists the tools of a plugin, each with its own or an inherited permission. */
function Tools({ plugin, act }: { readonly plugin: PluginView; readonly act: Act }): VNode {
  const [open, setOpen] = useState(false);
  const tools = plugin.tools ?? [];
  const ownPermissions = countOwnPermissions(tools);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary class="fold">
        {tools.length === 1 ? '1 tool' : `${tools.length} tools`}
        {ownPermissions > 0 && `, ${ownPermissions} with ${ownPermissions === 1 ? 'its' : 'their'} own permission`}
      </summary>
      {open && (
        <ToolList tools={tools}>
          {(tool) => (
            <>
              <ToolName tool={tool} />
              <AllowedCallers plugin={plugin.name} tool={tool} act={act} />
              <PermissionSelect
                label={`Permission of ${tool.name}`}
                plugin={plugin.name}
                tool={tool.name}
                permission={tool.permission}
                inherited={plugin.permission}
                act={act}
              />
            </>
          )}
        </ToolList>
      )}
    </details>
  );
}

/** AllowedCallers lists the callers with an "always" grant, and a button that removes these grants. */
function AllowedCallers({
  plugin,
  tool,
  act,
}: {
  readonly plugin: string;
  readonly tool: ToolView;
  readonly act: Act;
}): VNode | null {
  const { isBusy, run } = usePanelAction(act);
  const callers = (tool.allowed ?? []).map(({ client, caller }) =>
    caller ? `the plugin ${removeHidden(caller)}` : removeHidden(client ?? '') || 'an agent',
  );
  if (callers.length === 0) return null;
  const { name, permission } = tool;
  const params = { plugin, tool: name, ...(permission ? { permission } : {}) };
  return (
    <span class="allowed">
      always for {callers.join(', ')}{' '}
      <button type="button" disabled={isBusy} onClick={() => void run({ op: 'permission', params })}>
        Ask again
      </button>
    </span>
  );
}

/** ToolList lists tools by category. */
function ToolList(props: { readonly tools: readonly ToolView[]; readonly children: (tool: ToolView) => VNode }): VNode {
  return (
    <>
      {toolGroups(props.tools).map(({ category, tools }) => (
        <div key={category} class="group">
          {category && <h3 class="category">{category}</h3>}
          <ul class="tools" aria-label={category || undefined}>
            {tools.map((tool) => (
              <li key={tool.name}>{props.children(tool)}</li>
            ))}
          </ul>
        </div>
      ))}
    </>
  );
}

function ToolName({ tool }: { readonly tool: ToolView }): VNode {
  return (
    <span class="tool" title={removeHidden(tool.displayName)}>
      {tool.name}
      {tool.readOnly && <span class="reads">read-only</span>}
    </span>
  );
}

/**
 * Review shows an unreviewed plugin and the buttons that allow the plugin. The key of Review is the plugin's hash, so
 * Review closes when the content changes.
 */
function Review({ plugin, act }: { readonly plugin: PluginView; readonly act: Act }): VNode {
  const [open, setOpen] = useState(false);
  const { isBusy, error, run } = usePanelAction(act);
  const { name, hash } = plugin;
  const allow = (permission: 'ask' | 'auto') => void run({ op: 'review', params: { plugin: name, hash, permission } });
  if (!open) {
    return (
      <div class="review">
        <p>This plugin is new or has changed. Agents can’t use it until you review it.</p>
        <button type="button" aria-label={`Review ${name}`} onClick={() => setOpen(true)}>
          Review
        </button>
      </div>
    );
  }
  const tools = plugin.tools ?? [];
  return (
    <div class="review">
      <p>The plugin can do anything on these sites that you can do there. Allow it only if you trust its author.</p>
      <p>
        <code>opentabs plugin review {name}</code> shows its code and what changed.
      </p>
      <dl>
        <dt>Sites</dt>
        <dd>
          {(plugin.matches ?? []).map((site) => (
            <code key={site}>{site}</code>
          ))}
        </dd>
        <dt>World</dt>
        <dd>{worldEffect(plugin.world)}</dd>
        {plugin.late && (
          <>
            <dt>Start</dt>
            <dd>{lateEffect}</dd>
          </>
        )}
        <dt>Tools</dt>
        <dd>
          <ToolList tools={tools}>{(tool) => <ToolName tool={tool} />}</ToolList>
        </dd>
        <dt>Code, SHA-256</dt>
        <dd class="hash">{hashGroups(hash)}</dd>
      </dl>
      <div class="answers">
        <button type="button" disabled={isBusy} onClick={() => setOpen(false)}>
          Not now
        </button>
        <button type="button" disabled={isBusy} onClick={() => allow('ask')}>
          Allow, ask each time
        </button>
        <button type="button" disabled={isBusy} onClick={() => allow('auto')}>
          Allow without asking
        </button>
      </div>
      <ErrorText text={error} />
    </div>
  );
}

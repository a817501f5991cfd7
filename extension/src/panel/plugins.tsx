import type { VNode } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { FailedPluginView, PluginView } from '../../../wire/wire.gen.ts';
import type { PanelTab } from '../panel-message.ts';
import { AdapterAccessSwitch, NestedCallPermissions } from './calling.tsx';
import { ErrorText, ToggleSwitch } from './choice.tsx';
import { usePanelAction } from './panel-action.ts';
import { PermissionSelect } from './permission-select.tsx';
import { InstallForm, type InstallProposal, PackageActions, RemoveButton } from './plugin-package.tsx';
import { ToolsSection } from './plugin-tools.tsx';
import {
  findFailedPlugins,
  findPackageName,
  findPlugins,
  findReadiness,
  formatSites,
  makeIconUrl,
  type PluginFilter,
  type PluginReadiness,
  pluginFilters,
} from './plugin-words.ts';
import type { SendAction } from './requests.ts';
import { PluginReview } from './review-card.tsx';
import { PluginSettings } from './settings-form.tsx';
import { removeHiddenCharacters } from './wording.ts';

const MinPluginsForSearch = 8;

export interface PluginsProps {
  readonly plugins: readonly PluginView[] | undefined;
  readonly failedPlugins: readonly FailedPluginView[];
  readonly tabs: readonly PanelTab[];
  readonly sendAction: SendAction;
}

export function PluginList({ plugins, failedPlugins, tabs, sendAction }: PluginsProps): VNode {
  const [query, setQuery] = useState('');
  const [filter, setFilter] = useState<PluginFilter>('all');
  const [installedPlugin, setInstalledPlugin] = useState('');
  const [installProposal, setProposal] = useState<InstallProposal>();
  const allPlugins = plugins ?? [];
  const names = useMemo(() => (plugins ?? []).map((plugin) => plugin.name), [plugins]);
  const shownPlugins = findPlugins(allPlugins, query, filter);
  const shownFailedPlugins = findFailedPlugins(failedPlugins, query, filter);
  const packageName = findPackageName(query);
  const isEmpty = plugins?.length === 0 && failedPlugins.length === 0;
  return (
    <section aria-labelledby="plugins">
      <h2 id="plugins">Plugins {plugins && <span class="count">{allPlugins.length}</span>}</h2>
      {isEmpty && <p class="empty">No plugin is installed. A plugin teaches opentabs the tools of one site.</p>}
      {plugins && (
        <InstallForm
          startsOpen={isEmpty}
          installProposal={installProposal}
          onInstalled={setInstalledPlugin}
          sendAction={sendAction}
        />
      )}
      {allPlugins.length >= MinPluginsForSearch && (
        <PluginSearch
          plugins={allPlugins}
          failedPlugins={failedPlugins}
          query={query}
          setQuery={setQuery}
          filter={filter}
          setFilter={setFilter}
        />
      )}
      <ReviewHint count={allPlugins.filter((plugin) => !plugin.reviewed).length} />
      {!isEmpty && plugins && shownPlugins.length + shownFailedPlugins.length === 0 && (
        <p class="empty">
          No installed plugin matches the search.{' '}
          {packageName !== '' && !names.includes(packageName) && (
            <button type="button" onClick={() => setProposal({ package: packageName })}>
              Install {packageName}
            </button>
          )}
        </p>
      )}
      <ul class="plugins">
        {shownPlugins.map((plugin) => (
          <MemoizedPlugin
            key={plugin.name}
            plugin={plugin}
            readiness={findReadiness(plugin.name, tabs)}
            allPlugins={names}
            startsOpen={plugin.name === installedPlugin}
            sendAction={sendAction}
          />
        ))}
        {shownFailedPlugins.map((failedPlugin) => (
          <FailedPlugin key={failedPlugin.path} failedPlugins={failedPlugin} sendAction={sendAction} />
        ))}
      </ul>
    </section>
  );
}

interface SearchProps {
  readonly plugins: readonly PluginView[];
  readonly failedPlugins: readonly FailedPluginView[];
  readonly query: string;
  setQuery(query: string): void;
  readonly filter: PluginFilter;
  setFilter(filter: PluginFilter): void;
}

function PluginSearch({ plugins, failedPlugins, query, setQuery, filter, setFilter }: SearchProps): VNode {
  return (
    <search class="search">
      <input
        class="find"
        type="search"
        placeholder="Find a plugin or tool"
        aria-label="Find a plugin or tool"
        value={query}
        onInput={(event) => setQuery(event.currentTarget.value)}
      />
      <select
        aria-label="Show plugins"
        value={filter}
        onChange={(event) => {
          const chosenFilter = pluginFilters.find((filterOption) => filterOption.filter === event.currentTarget.value);
          if (chosenFilter) setFilter(chosenFilter.filter);
        }}
      >
        {pluginFilters.map((filterOption) => (
          <option key={filterOption.filter} value={filterOption.filter}>
            {`${filterOption.title} (${findPlugins(plugins, '', filterOption.filter).length + findFailedPlugins(failedPlugins, '', filterOption.filter).length})`}
          </option>
        ))}
      </select>
    </search>
  );
}

/** ReviewHint shows the command with which the user can review and enable many plugins at once. */
function ReviewHint({ count }: { readonly count: number }): VNode | null {
  if (count < 2) return null;
  return (
    <p class="note">
      {count} plugins need a review. <code>opentabs plugin enable --all</code> in a terminal reviews and enables them at
      once.
    </p>
  );
}

function FailedPlugin({
  failedPlugins,
  sendAction,
}: {
  readonly failedPlugins: FailedPluginView;
  readonly sendAction: SendAction;
}): VNode {
  const name = removeHiddenCharacters(failedPlugins.name ?? '');
  return (
    <li class="failed">
      <h3 class="title">{name || 'A plugin'} could not be loaded</h3>
      <p class="sites">{removeHiddenCharacters(failedPlugins.path)}</p>
      <p class="error">{removeHiddenCharacters(failedPlugins.error)}</p>
      {failedPlugins.name && <RemoveButton name={failedPlugins.name} title={name} sendAction={sendAction} />}
    </li>
  );
}

interface PluginProps {
  readonly plugin: PluginView;
  readonly readiness: PluginReadiness;
  readonly allPlugins: readonly string[];
  /** startsOpen is true if the plugin's review is expanded at first, because the user has just installed the plugin. */
  readonly startsOpen: boolean;
  readonly sendAction: SendAction;
}

const readinessWords = {
  closed: 'no tab open',
  unavailable: 'tab open, not ready',
  ready: 'ready',
} as const;

function MemoizedPlugin({ plugin, readiness, allPlugins, startsOpen, sendAction }: PluginProps): VNode {
  return useMemo(
    () => (
      <PluginCard
        plugin={plugin}
        readiness={readiness}
        allPlugins={allPlugins}
        startsOpen={startsOpen}
        sendAction={sendAction}
      />
    ),
    [plugin, readiness, allPlugins, startsOpen, sendAction],
  );
}

function PluginCard({ plugin, readiness, allPlugins, startsOpen, sendAction }: PluginProps): VNode {
  const { name, displayName, version, reviewed: isReviewed, permission, homepage: homepageUrl } = plugin;
  const shownName = removeHiddenCharacters(displayName) || name;
  const icon = makeIconUrl(plugin.icon);
  const titleRef = useRef<HTMLHeadingElement>(null);
  const wasReviewed = useRef(isReviewed);
  useLayoutEffect(() => {
    // The button that enabled the plugin is no longer rendered, so the keyboard focus moves to the plugin's title.
    if (isReviewed && !wasReviewed.current && document.activeElement === document.body) titleRef.current?.focus();
    wasReviewed.current = isReviewed;
  }, [isReviewed]);
  return (
    <li class={isReviewed ? '' : 'unreviewed'}>
      <div class="head">
        <h3 class="title" title={name} tabIndex={-1} ref={titleRef}>
          {icon && <img class="icon" src={icon} alt="" />}
          {shownName} <span class="version">{removeHiddenCharacters(version)}</span>
          {isReviewed && (
            <span
              class={`dot ${readiness}`}
              role="img"
              aria-label={readinessWords[readiness]}
              title={readinessWords[readiness]}
            />
          )}
        </h3>
        {isReviewed && (
          <PermissionSelect
            label={`Permission of ${shownName}`}
            plugin={name}
            permission={permission}
            sendAction={sendAction}
          />
        )}
      </div>
      <p class="sites">
        {formatSites(plugin.matches ?? []) || 'No site yet. Enter a site in the settings.'}
        {homepageUrl && (
          <>
            {' '}
            <a href={homepageUrl} target="_blank" rel="noreferrer">
              Homepage
            </a>
          </>
        )}
      </p>
      {plugin.problem && <p class="error">Failed: {removeHiddenCharacters(plugin.problem)}</p>}
      <ReviewRecommendation plugin={plugin} />
      {!isReviewed && (
        <PluginReview key={plugin.hash} plugin={plugin} startsOpen={startsOpen} sendAction={sendAction} />
      )}
      <div class="folds">
        {isReviewed && <ToolsSection plugin={plugin} sendAction={sendAction} />}
        {isReviewed && <PluginSettings plugin={plugin} sendAction={sendAction} />}
        {isReviewed && plugin.opensAt && (
          <OpenTabSetting plugin={plugin} opensAt={plugin.opensAt} sendAction={sendAction} />
        )}
        {isReviewed && <AdapterAccessSwitch plugin={plugin} sendAction={sendAction} />}
        {isReviewed && <NestedCallPermissions plugin={plugin} otherPlugins={allPlugins} sendAction={sendAction} />}
        <PackageActions plugin={plugin} sendAction={sendAction} />
      </div>
    </li>
  );
}

/** ReviewRecommendation shows an agent's opinion about a review, which changes no permission. */
function ReviewRecommendation({ plugin }: { readonly plugin: PluginView }): VNode | null {
  const { recommended: recommendedReview } = plugin;
  if (!recommendedReview) return null;
  const reviewNote = removeHiddenCharacters(recommendedReview.note ?? '');
  return (
    <div class="advice" role="note">
      <p>
        {removeHiddenCharacters(recommendedReview.by) || 'An agent'} has reviewed this plugin and recommends the
        permission {recommendedReview.permission}. Only you can allow it.
      </p>
      {reviewNote && <blockquote>{reviewNote}</blockquote>}
    </div>
  );
}

interface OpenTabSettingProps {
  readonly plugin: PluginView;
  readonly opensAt: string;
  readonly sendAction: SendAction;
}

function OpenTabSetting({ plugin, opensAt, sendAction }: OpenTabSettingProps): VNode {
  const { isBusy, error, runAction } = usePanelAction(sendAction);
  return (
    <div class="opening">
      <ToggleSwitch
        label={
          <>
            Calls may open a tab <span class="host">{removeHiddenCharacters(opensAt)}</span>
          </>
        }
        current={plugin.opening === true}
        isBusy={isBusy}
        sendChoice={(isAllowed) => runAction({ op: 'opening', params: { plugin: plugin.name, allowed: isAllowed } })}
      />
      <ErrorText errorText={error} />
    </div>
  );
}

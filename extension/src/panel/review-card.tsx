import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type Permission, Permissions, type PluginInspectResult, type PluginView } from '../../../wire/wire.gen.ts';
import { ErrorText } from './choice.tsx';
import { usePanelAction } from './panel-action.ts';
import { PluginText } from './plugin-text.tsx';
import { ToolList, ToolName } from './plugin-tools.tsx';
import { formatHash } from './plugin-words.ts';
import type { SendAction } from './requests.ts';
import {
  choosePermissionAfterReview,
  describeLastReview,
  describePluginSource,
  describeToolCounts,
  groupFeatures,
  listChangedPermissions,
  makeSectionTitle,
  mapToolDescriptions,
  permissionEffects,
  type ToolDrafts,
} from './review-words.ts';
import { useGuardedButton } from './use-click-guard.ts';
import { useInspection } from './use-inspection.ts';
import { adapterAccessNote, describeScriptWorld, removeHiddenCharacters } from './wording.ts';

const MaxExpandedTools = 6;

export interface ReviewProps {
  readonly plugin: PluginView;
  /** startsOpen expands the review at first, because the user has just installed the plugin in the panel. */
  readonly startsOpen: boolean;
  readonly sendAction: SendAction;
}

/** The plugin's hash is its React key, so that the card collapses when the plugin's content changes. */
export function PluginReview({ plugin, startsOpen, sendAction }: ReviewProps): VNode {
  const [isOpen, setOpen] = useState(startsOpen);
  const reviewButton = useRef<HTMLButtonElement>(null);
  const wasOpen = useRef(startsOpen);
  useEffect(() => {
    if (startsOpen) setOpen(true); // the list of plugins may arrive before the result of the installation
  }, [startsOpen]);
  useLayoutEffect(() => {
    if (wasOpen.current && !isOpen) reviewButton.current?.focus();
    wasOpen.current = isOpen;
  }, [isOpen]);
  if (isOpen) return <OpenReview plugin={plugin} sendAction={sendAction} closeReview={() => setOpen(false)} />;
  return (
    <div class="review">
      <p>
        {plugin.changed
          ? 'This plugin has changed since your review. Its tools do not run until you review and enable it.'
          : 'This plugin is new. Its tools do not run until you review and enable it.'}
      </p>
      <button type="button" aria-label={`Review ${plugin.name}`} ref={reviewButton} onClick={() => setOpen(true)}>
        Review
      </button>
    </div>
  );
}

interface OpenReviewProps {
  readonly plugin: PluginView;
  readonly sendAction: SendAction;
  closeReview(): void;
}

function OpenReview({ plugin, sendAction, closeReview }: OpenReviewProps): VNode {
  const { inspection, error, isBusy, loadInspection } = useInspection(plugin.name, sendAction);
  const headingRef = useRef<HTMLHeadingElement>(null);
  useEffect(() => headingRef.current?.focus(), []);
  return (
    <div class="review">
      <h4 tabIndex={-1} ref={headingRef}>
        Review of {removeHiddenCharacters(plugin.displayName) || plugin.name}
      </h4>
      {inspection ? (
        <LoadedReview plugin={plugin} inspection={inspection} sendAction={sendAction} closeReview={closeReview} />
      ) : (
        <>
          {error === '' && <p class="note">Loading…</p>}
          <ErrorText errorText={error} />
          {error !== '' && (
            <div class="answers">
              <button type="button" onClick={closeReview}>
                Not now
              </button>
              <button type="button" disabled={isBusy} onClick={() => void loadInspection()}>
                Try again
              </button>
            </div>
          )}
        </>
      )}
    </div>
  );
}

interface LoadedReviewProps extends OpenReviewProps {
  readonly inspection: PluginInspectResult;
}

function LoadedReview({ plugin, inspection, sendAction, closeReview }: LoadedReviewProps): VNode {
  const [permission, setPermission] = useState<Permission>('ask');
  const [toolDrafts, setDrafts] = useState<ToolDrafts>(new Map());
  const { name } = plugin;
  const { hash } = inspection;
  return (
    <>
      {inspection.description && <p class="description">{removeHiddenCharacters(inspection.description)}</p>}
      <p class="risk">
        Its code can do anything on these sites that you can do there. Enable it only if you trust its author.
      </p>
      <PluginFacts plugin={plugin} inspection={inspection} />
      <BrowserFeatures inspection={inspection} />
      <ReviewedTools
        plugin={plugin}
        inspection={inspection}
        permission={permission}
        toolDrafts={toolDrafts}
        choosePermission={(tool, draft) => setDrafts((previousDrafts) => new Map(previousDrafts).set(tool, draft))}
      />
      {inspection.lastReview && !inspection.sections?.some((sectionView) => sectionView.name === 'changes') && (
        <p class="note">The lines that changed since your last review are not stored.</p>
      )}
      {(inspection.sections ?? []).map((sectionView) => (
        <FoldedSection key={sectionView.name} title={makeSectionTitle(sectionView, inspection.lastReview)}>
          {sectionView.name === 'libraries' && (
            <p class="note">The bundler marked this code as libraries. opentabs did not verify the mark.</p>
          )}
          <PluginText
            plugin={name}
            hash={hash}
            sectionName={sectionView.name}
            title={makeSectionTitle(sectionView, inspection.lastReview)}
            pages={sectionView.pages}
            sendAction={sendAction}
          />
        </FoldedSection>
      ))}
      <PermissionChoice name={name} permission={permission} choosePermission={setPermission} />
      <EnableButtons
        plugin={plugin}
        hash={hash}
        permission={permission}
        tools={listChangedPermissions(plugin.tools ?? [], toolDrafts)}
        sendAction={sendAction}
        closeReview={closeReview}
      />
    </>
  );
}

function FoldedSection(sectionProps: {
  readonly title: string;
  readonly startsOpen?: boolean;
  readonly children: ComponentChildren;
}): VNode {
  const [isOpen, setOpen] = useState(sectionProps.startsOpen === true);
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary class="fold">{sectionProps.title}</summary>
      {isOpen && <div>{sectionProps.children}</div>}
    </details>
  );
}

function PluginFacts({ plugin, inspection }: { plugin: PluginView; inspection: PluginInspectResult }): VNode {
  const { lastReview, excludes: excludedSites = [], warnings: reviewWarnings = [] } = inspection;
  return (
    <dl class="facts">
      <dt>Sites</dt>
      <dd class="patterns">
        {(plugin.matches ?? []).map((site) => (
          <code key={site}>{site}</code>
        ))}
        {excludedSites.length > 0 && (
          <>
            except{' '}
            {excludedSites.map((site) => (
              <code key={site}>{site}</code>
            ))}
          </>
        )}
      </dd>
      <dt>Source</dt>
      <dd>
        {describePluginSource(inspection.source)}: <code>{removeHiddenCharacters(inspection.package)}</code>{' '}
        {removeHiddenCharacters(plugin.version)}
        <p class="note">{removeHiddenCharacters(inspection.folder)}</p>
      </dd>
      <dt>Author</dt>
      <dd>{inspection.author ? `${removeHiddenCharacters(inspection.author)} (the package’s claim)` : 'Not named'}</dd>
      {lastReview && (
        <>
          <dt>Last review</dt>
          <dd>{describeLastReview(lastReview)}</dd>
        </>
      )}
      <dt>World</dt>
      <dd>{describeScriptWorld(plugin.world)}</dd>
      {(plugin.late || inspection.preScript || inspection.frames) && (
        <>
          <dt>Start</dt>
          <dd>
            {plugin.late && <p>{adapterAccessNote}</p>}
            {inspection.preScript && <p>A pre-script runs before all scripts of the page, and in its frames.</p>}
            {inspection.frames && <p>The plugin also runs in frames of the page’s origin.</p>}
          </dd>
        </>
      )}
      {reviewWarnings.length > 0 && (
        <>
          <dt>Warnings</dt>
          <dd>
            {reviewWarnings.map((warning) => (
              <p key={warning} class="warning">
                {removeHiddenCharacters(warning)}
              </p>
            ))}
          </dd>
        </>
      )}
      <dt>Content, SHA-256</dt>
      <dd class="hash">{formatHash(inspection.hash)}</dd>
    </dl>
  );
}

function BrowserFeatures({ inspection }: { readonly inspection: PluginInspectResult }): VNode {
  const { ownFeatures, libraryNames } = groupFeatures(inspection.powers ?? []);
  return (
    <dl class="facts">
      <dt>The code mentions</dt>
      <dd>
        {ownFeatures.length === 0 && <p>No feature that sends, stores or loads data.</p>}
        <ul class="powers">
          {ownFeatures.map(({ names, featureMeaning }) => (
            <li key={featureMeaning}>
              <code>{names}</code> {featureMeaning}
            </li>
          ))}
        </ul>
        {libraryNames && <p class="note">Only its libraries: {libraryNames}</p>}
        <p class="note">Found by a search of the code, which can miss hidden features.</p>
      </dd>
    </dl>
  );
}

interface ReviewedToolsProps {
  readonly plugin: PluginView;
  readonly inspection: PluginInspectResult;
  readonly permission: Permission;
  readonly toolDrafts: ToolDrafts;
  choosePermission(tool: string, draft: Permission | ''): void;
}

function ReviewedTools({
  plugin,
  inspection,
  permission,
  toolDrafts,
  choosePermission: setPermissionDraft,
}: ReviewedToolsProps): VNode {
  const tools = plugin.tools ?? [];
  const toolDescriptions = mapToolDescriptions(inspection);
  return (
    <FoldedSection title={describeToolCounts(tools)} startsOpen={tools.length <= MaxExpandedTools}>
      <ToolList tools={tools}>
        {(tool) => (
          <>
            <ToolName tool={tool} description={toolDescriptions.get(tool.name)} />
            <select
              aria-label={`Permission of ${tool.name}`}
              value={toolDrafts.get(tool.name) ?? choosePermissionAfterReview(tool)}
              onChange={(event) => setPermissionDraft(tool.name, parsePermissionDraft(event.currentTarget.value))}
            >
              <option value="">{`Default (${permission})`}</option>
              {Permissions.map((knownPermission) => (
                <option key={knownPermission} value={knownPermission}>
                  {knownPermission}
                </option>
              ))}
            </select>
          </>
        )}
      </ToolList>
    </FoldedSection>
  );
}

function parsePermissionDraft(value: string): Permission | '' {
  return Permissions.find((knownPermission) => knownPermission === value) ?? '';
}

interface PermissionChoiceProps {
  readonly name: string;
  readonly permission: Permission;
  choosePermission(permission: Permission): void;
}

function PermissionChoice({ name, permission, choosePermission: setPermissionDraft }: PermissionChoiceProps): VNode {
  return (
    <fieldset class="permission-choice">
      <legend>Permission</legend>
      {Permissions.map((knownPermission) => (
        <label key={knownPermission}>
          <input
            type="radio"
            name={`permission-${name}`}
            checked={knownPermission === permission}
            onChange={() => setPermissionDraft(knownPermission)}
          />{' '}
          {permissionEffects[knownPermission]}
        </label>
      ))}
    </fieldset>
  );
}

interface EnableButtonsProps extends OpenReviewProps {
  readonly hash: string;
  readonly permission: Permission;
  readonly tools: ReturnType<typeof listChangedPermissions>;
}

function EnableButtons({ plugin, hash, permission, tools, sendAction, closeReview }: EnableButtonsProps): VNode {
  const { isBusy, error, runAction } = usePanelAction(sendAction);
  const decisionButtonsRef = useRef<HTMLDivElement>(null);
  const { acceptsClick, ignoresClicks } = useGuardedButton(decisionButtonsRef);
  const enablePlugin = (event: Event) => {
    if (isBusy || !acceptsClick(event)) return;
    void runAction({
      op: 'review',
      params: { plugin: plugin.name, hash, permission, ...(tools.length > 0 ? { tools } : {}) },
    });
  };
  return (
    <>
      <div class="answers" ref={decisionButtonsRef}>
        <button type="button" disabled={isBusy} onClick={closeReview}>
          Not now
        </button>
        <button type="button" class="enable" aria-disabled={isBusy || ignoresClicks} onClick={enablePlugin}>
          {permission === 'off' ? 'Review and keep off' : 'Review and enable'}
        </button>
      </div>
      <ErrorText errorText={error} />
    </>
  );
}

import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { SiteView } from '../../../wire/wire.gen.ts';
import { ErrorText, useOptimisticChoice } from './choice.tsx';
import { usePanelAction } from './panel-action.ts';
import type { SendAction } from './requests.ts';
import { removeHiddenCharacters, siteRuleWords } from './wording.ts';

/** siteRules lists what agents may do on a site with browser tools, from the strictest to the most permissive. */
const siteRules = ['off', 'read', 'ask', 'auto'] as const;
/** NoRule is the select option for a site that is listed only because the user approved calls there. */
const NoRule = '';

export function SiteRules({ sites, act }: { readonly sites: readonly SiteView[]; readonly act: SendAction }): VNode {
  return (
    <section aria-labelledby="sites">
      <h2 id="sites">
        Sites <span class="count">{sites.length || ''}</span>
      </h2>
      <p class="note">Other sites need your approval: reading once for each agent, acting each time.</p>
      <ul class="sites-list">
        {sites.map((site) => (
          <Site key={site.site} site={site} act={act} />
        ))}
      </ul>
      <NewSite act={act} />
    </section>
  );
}

function Site({ site, act }: { readonly site: SiteView; readonly act: SendAction }): VNode {
  const { isBusy, error, run } = usePanelAction(act);
  const name = removeHiddenCharacters(site.site);
  const [rule, chooseRule] = useOptimisticChoice<string>(site.permission ?? NoRule, (permission) =>
    run({ op: 'site', params: { site: site.site, permission } }),
  );
  const clients = (site.allowed ?? []).map((allowed) => `${removeHiddenCharacters(allowed.client)} (${allowed.class})`);
  return (
    <li class="card">
      <div class="head">
        <span class="pattern" title={name}>
          {name === '*' ? 'All other sites' : name}
        </span>
        <span class="controls">
          <RuleSelect label={`Permission of ${name}`} rule={rule} isBusy={isBusy} chooseRule={chooseRule}>
            {site.permission === undefined && <option value={NoRule}>ask (default)</option>}
          </RuleSelect>
          <button
            type="button"
            aria-label={`Remove ${name}`}
            title="Remove the rule and the stored approvals"
            aria-disabled={isBusy}
            onClick={() => void run({ op: 'site', params: { site: site.site } })}
          >
            Remove
          </button>
        </span>
      </div>
      {clients.length > 0 && <p class="from">Always allowed: {clients.join(', ')}</p>}
      <ErrorText text={error} />
    </li>
  );
}

interface RuleSelectProps {
  readonly label: string;
  readonly rule: string;
  readonly isBusy: boolean;
  readonly children?: VNode | false;
  chooseRule(rule: string): void;
}

function RuleSelect({ label, rule, isBusy, children, chooseRule }: RuleSelectProps): VNode {
  return (
    <select
      class={rule}
      aria-label={label}
      aria-busy={isBusy}
      value={rule}
      title={siteRuleWords[rule] ?? ''}
      onChange={(event) => chooseRule(event.currentTarget.value)}
    >
      {children}
      {siteRules.map((known) => (
        <option key={known} value={known}>
          {known}
        </option>
      ))}
    </select>
  );
}

function NewSite({ act }: { readonly act: SendAction }): VNode {
  const { isBusy, error, run } = usePanelAction(act);
  const [site, setSite] = useState('');
  const [rule, setRule] = useState<string>('ask');
  const add = async () => {
    if (site.trim() === '' || isBusy) return;
    const done = await run({ op: 'site', params: { site: site.trim(), permission: rule } });
    if (done.error === undefined) setSite('');
  };
  return (
    <form
      class="new-site"
      onSubmit={(event) => {
        event.preventDefault();
        void add();
      }}
    >
      <input
        aria-label="Site"
        placeholder="shop.example"
        value={site}
        spellcheck={false}
        autocomplete="off"
        onInput={(event) => setSite(event.currentTarget.value)}
      />
      <RuleSelect label="Permission of the new site" rule={rule} isBusy={isBusy} chooseRule={setRule} />
      <button type="submit" disabled={site.trim() === ''}>
        Add
      </button>
      <p class="note">{siteRuleWords[rule]}</p>
      <ErrorText text={error} />
    </form>
  );
}

import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { SiteView } from '../../../wire/wire.gen.ts';
import { ErrorText, useOptimisticChoice } from './choice.tsx';
import { usePanelAction } from './panel-action.ts';
import type { SendAction } from './requests.ts';
import { removeHiddenCharacters, siteRuleTexts } from './wording.ts';

/** siteRules lists the rules for browser tools on a site, from the strictest to the most permissive. */
const siteRules = ['off', 'read', 'ask', 'auto'] as const;
/**
 * NoRuleOption is the select option for a site without a rule, which is listed only because the user approved calls on
 * the site.
 */
const NoRuleOption = '';

export function SiteRules({
  sites,
  sendAction,
}: {
  readonly sites: readonly SiteView[];
  readonly sendAction: SendAction;
}): VNode {
  return (
    <section aria-labelledby="sites">
      <h2 id="sites">
        Sites <span class="count">{sites.length || ''}</span>
      </h2>
      <p class="note">Other sites need your approval: reading once for each agent, acting each time.</p>
      <ul class="sites-list">
        {sites.map((site) => (
          <SiteRule key={site.site} site={site} sendAction={sendAction} />
        ))}
      </ul>
      <NewSiteForm sendAction={sendAction} />
    </section>
  );
}

function SiteRule({ site, sendAction }: { readonly site: SiteView; readonly sendAction: SendAction }): VNode {
  const { isBusy, error, runAction } = usePanelAction(sendAction);
  const name = removeHiddenCharacters(site.site);
  const [siteRule, chooseRule] = useOptimisticChoice<string>(site.permission ?? NoRuleOption, (permission) =>
    runAction({ op: 'site', params: { site: site.site, permission } }),
  );
  const clients = (site.allowed ?? []).map(
    (allowedClient) => `${removeHiddenCharacters(allowedClient.client)} (${allowedClient.class})`,
  );
  return (
    <li class="card">
      <div class="head">
        <span class="pattern" title={name}>
          {name === '*' ? 'All other sites' : name}
        </span>
        <span class="controls">
          <RuleSelect label={`Permission of ${name}`} siteRule={siteRule} isBusy={isBusy} chooseRule={chooseRule}>
            {site.permission === undefined && <option value={NoRuleOption}>ask (default)</option>}
          </RuleSelect>
          <button
            type="button"
            aria-label={`Remove ${name}`}
            title="Remove the rule and the stored approvals"
            aria-disabled={isBusy}
            onClick={() => void runAction({ op: 'site', params: { site: site.site } })}
          >
            Remove
          </button>
        </span>
      </div>
      {clients.length > 0 && <p class="from">Always allowed: {clients.join(', ')}</p>}
      <ErrorText errorText={error} />
    </li>
  );
}

interface RuleSelectProps {
  readonly label: string;
  readonly siteRule: string;
  readonly isBusy: boolean;
  readonly children?: VNode | false;
  chooseRule(siteRule: string): void;
}

function RuleSelect({ label, siteRule, isBusy, children, chooseRule }: RuleSelectProps): VNode {
  return (
    <select
      class={siteRule}
      aria-label={label}
      aria-busy={isBusy}
      value={siteRule}
      title={siteRuleTexts[siteRule] ?? ''}
      onChange={(event) => chooseRule(event.currentTarget.value)}
    >
      {children}
      {siteRules.map((ruleOption) => (
        <option key={ruleOption} value={ruleOption}>
          {ruleOption}
        </option>
      ))}
    </select>
  );
}

function NewSiteForm({ sendAction }: { readonly sendAction: SendAction }): VNode {
  const { isBusy, error, runAction } = usePanelAction(sendAction);
  const [site, setSite] = useState('');
  const [siteRule, setRule] = useState<string>('ask');
  const addRule = async () => {
    if (site.trim() === '' || isBusy) return;
    const actionResult = await runAction({ op: 'site', params: { site: site.trim(), permission: siteRule } });
    if (actionResult.error === undefined) setSite('');
  };
  return (
    <form
      class="new-site"
      onSubmit={(event) => {
        event.preventDefault();
        void addRule();
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
      <RuleSelect label="Permission of the new site" siteRule={siteRule} isBusy={isBusy} chooseRule={setRule} />
      <button type="submit" disabled={site.trim() === ''}>
        Add
      </button>
      <p class="note">{siteRuleTexts[siteRule]}</p>
      <ErrorText errorText={error} />
    </form>
  );
}

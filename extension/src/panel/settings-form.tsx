import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { PluginView, SettingView } from '../../../wire/wire.gen.ts';
import { ErrorText } from './choice.tsx';
import { usePanelAction } from './panel-action.ts';
import type { SendAction } from './requests.ts';
import {
  ClearedSecretDraft,
  findSettingOfError,
  isChanged,
  listMissingSettings,
  makeDraft,
  readDraftValue,
  type SettingDraft,
  type UrlRow,
} from './setting-draft.ts';
import { removeHiddenCharacters } from './wording.ts';

export function PluginSettings({
  plugin,
  sendAction,
}: {
  readonly plugin: PluginView;
  readonly sendAction: SendAction;
}): VNode | null {
  const settings = plugin.settings ?? [];
  const hasMissingSettings = listMissingSettings(settings).length > 0;
  const [isOpen, setOpen] = useState(hasMissingSettings);
  if (settings.length === 0) return null;
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary class="fold">
        {settings.length === 1 ? '1 setting' : `${settings.length} settings`}
        {hasMissingSettings && <span class="needs">needs settings</span>}
      </summary>
      {isOpen && <SettingsForm plugin={plugin.name} settings={settings} sendAction={sendAction} />}
    </details>
  );
}

interface FormProps {
  readonly plugin: string;
  readonly settings: readonly SettingView[];
  readonly sendAction: SendAction;
}

function SettingsForm({ plugin, settings, sendAction }: FormProps): VNode {
  const [settingDrafts, setDrafts] = useState<Readonly<Record<string, SettingDraft>>>({});
  const [isSaved, setSaved] = useState(false);
  const { isBusy, error, runAction } = usePanelAction(sendAction);
  const failedSetting = findSettingOfError(error, settings);
  const changedSettings = settings.filter((setting) => isChanged(setting, settingDrafts[setting.key]));
  const changeDraft = (key: string, settingDraft: SettingDraft) => {
    setSaved(false);
    setDrafts((oldDrafts) => ({ ...oldDrafts, [key]: settingDraft }));
  };
  const saveSettings = async () => {
    const settingValues = Object.fromEntries(
      changedSettings.map((setting) => [setting.key, readDraftValue(setting, settingDrafts[setting.key])]),
    );
    const { error } = await runAction({ op: 'settings', params: { plugin, values: settingValues } });
    if (error !== undefined) return;
    setDrafts({});
    setSaved(true);
  };
  return (
    <form
      class="settings"
      onSubmit={(event) => {
        event.preventDefault();
        if (changedSettings.length > 0) void saveSettings();
      }}
    >
      {settings.map((setting) => (
        <SettingField
          key={setting.key}
          id={`${plugin}-${setting.key}`}
          setting={setting}
          settingDraft={settingDrafts[setting.key] ?? makeDraft(setting)}
          onType={(settingDraft) => changeDraft(setting.key, settingDraft)}
          error={failedSetting?.key === setting.key ? failedSetting.text : ''}
        />
      ))}
      <div class="save">
        <button type="submit" disabled={isBusy || changedSettings.length === 0}>
          Save
        </button>
        <span role="status">{isSaved && changedSettings.length === 0 && 'Saved'}</span>
      </div>
      <ErrorText errorText={failedSetting ? '' : error} />
    </form>
  );
}

interface FieldProps {
  readonly id: string;
  readonly setting: SettingView;
  readonly settingDraft: SettingDraft;
  readonly error: string;
  onType(settingDraft: SettingDraft): void;
}

function SettingField({ id, setting, settingDraft, error, onType }: FieldProps): VNode {
  const { label, description, required: isRequired } = setting;
  const hasRows = typeof settingDraft !== 'string';
  const name = removeHiddenCharacters(label) || setting.key;
  return (
    <div class="field">
      {hasRows ? <span id={id}>{name}</span> : <label for={id}>{name}</label>}
      {isRequired && <span class="required"> required</span>}
      {setting.withheld && setting.set && (
        <p class="note">
          The plugin starts after the page’s scripts, so it gets this secret only if you allow it below.
        </p>
      )}
      {description && <p id={`${id}-about`}>{removeHiddenCharacters(description)}</p>}
      {hasRows ? (
        <UrlSettings id={id} urlRows={settingDraft} setting={setting} onType={onType} />
      ) : (
        <SingleValueField id={id} setting={setting} draftText={settingDraft} onType={onType} isInvalid={error !== ''} />
      )}
      {error && (
        <p class="error" role="alert" id={`${id}-error`}>
          {error}
        </p>
      )}
    </div>
  );
}

interface SingleValueFieldProps {
  readonly id: string;
  readonly setting: SettingView;
  readonly draftText: string;
  readonly isInvalid: boolean;
  onType(draftText: string): void;
}

function SingleValueField({ id, setting, draftText, isInvalid: isDraftInvalid, onType }: SingleValueFieldProps): VNode {
  const describedBy = [setting.description && `${id}-about`, isDraftInvalid && `${id}-error`].filter(Boolean).join(' ');
  const commonProps = {
    id,
    'aria-describedby': describedBy || undefined,
    'aria-invalid': isDraftInvalid,
    'aria-required': setting.required === true,
  };
  const options = listOptions(setting);
  if (options) {
    return (
      <select {...commonProps} value={draftText} onChange={(event) => onType(event.currentTarget.value)}>
        <option value="">not set</option>
        {options.map((option) => (
          <option key={option} value={option}>
            {setting.type === 'boolean' ? formatYesNo(option) : removeHiddenCharacters(option)}
          </option>
        ))}
      </select>
    );
  }
  if (setting.secret)
    return <SecretField commonProps={commonProps} setting={setting} draftText={draftText} onType={onType} />;
  return (
    <span class="one">
      <input
        {...commonProps}
        type="text"
        inputMode={setting.type === 'number' ? 'decimal' : 'text'}
        value={draftText}
        placeholder={removeHiddenCharacters(setting.placeholder ?? '')}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => onType(event.currentTarget.value)}
      />
    </span>
  );
}

interface SecretProps extends Pick<SingleValueFieldProps, 'setting' | 'draftText' | 'onType'> {
  readonly commonProps: { readonly id: string };
}

/** The panel never receives the value of a secret setting; the user can only replace or remove the secret. */
function SecretField({ commonProps, setting, draftText, onType }: SecretProps): VNode {
  const isCleared = draftText === ClearedSecretDraft;
  const hasStoredValue = setting.set && !isCleared;
  return (
    <span class="one">
      <input
        {...commonProps}
        type="password"
        value={isCleared ? '' : draftText}
        placeholder={
          isCleared
            ? 'removed when you save'
            : hasStoredValue
              ? 'set, not shown'
              : removeHiddenCharacters(setting.placeholder ?? '')
        }
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => onType(event.currentTarget.value)}
      />
      {hasStoredValue && (
        <button type="button" aria-label={`Clear ${setting.key}`} onClick={() => onType(ClearedSecretDraft)}>
          Clear
        </button>
      )}
    </span>
  );
}

const formatYesNo = (option: string) => (option === 'true' ? 'yes' : 'no');

function listOptions(setting: SettingView): readonly string[] | undefined {
  if (setting.type === 'select') return setting.options ?? [];
  return setting.type === 'boolean' ? ['true', 'false'] : undefined;
}

interface UrlsProps {
  readonly id: string;
  readonly setting: SettingView;
  readonly urlRows: readonly UrlRow[];
  onType(urlRows: readonly UrlRow[]): void;
}

/**
 * UrlSettings shows the input fields of a `url` setting: one row with a name and a URL for each instance of the site.
 */
function UrlSettings({ id, setting, urlRows, onType }: UrlsProps): VNode {
  const changeUrlRow = (index: number, rowChanges: Partial<UrlRow>) =>
    onType(urlRows.map((urlRow, i) => (i === index ? { ...urlRow, ...rowChanges } : urlRow)));
  const rowLabel = removeHiddenCharacters(setting.label) || setting.key;
  return (
    <fieldset class="urls" aria-labelledby={id}>
      {urlRows.map((urlRow, i) => (
        <div key={i}>
          <input
            class="instance"
            aria-label={`Name of site ${i + 1} of ${rowLabel}`}
            value={urlRow.name}
            placeholder="name"
            autocomplete="off"
            spellcheck={false}
            onInput={(event) => changeUrlRow(i, { name: event.currentTarget.value })}
          />
          <input
            aria-label={`URL of site ${i + 1} of ${rowLabel}`}
            type="text"
            inputMode="url"
            value={urlRow.url}
            placeholder={removeHiddenCharacters(setting.placeholder ?? '') || 'https://'}
            autocomplete="off"
            spellcheck={false}
            onInput={(event) => changeUrlRow(i, { url: event.currentTarget.value })}
          />
          <button
            type="button"
            aria-label={`Remove site ${i + 1} of ${rowLabel}`}
            onClick={() => onType(urlRows.filter((_, rowIndex) => rowIndex !== i))}
          >
            ×
          </button>
        </div>
      ))}
      <button
        type="button"
        onClick={() => onType([...urlRows, { name: urlRows.length === 0 ? 'default' : '', url: '' }])}
      >
        Add a site
      </button>
    </fieldset>
  );
}

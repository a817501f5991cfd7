import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { PluginView, SettingView } from '../../../wire/wire.gen.ts';
import { ErrorText } from './choice.tsx';
import { usePanelAction } from './panel-action.ts';
import type { SendAction } from './requests.ts';
import {
  ClearedSecret,
  type Draft,
  findSettingOfError,
  isChanged,
  listMissingSettings,
  makeDraft,
  readDraftValue,
  type UrlRow,
} from './setting-draft.ts';
import { removeHiddenCharacters } from './wording.ts';

export function Settings({ plugin, act }: { readonly plugin: PluginView; readonly act: SendAction }): VNode | null {
  const settings = plugin.settings ?? [];
  const hasMissingSettings = listMissingSettings(settings).length > 0;
  const [open, setOpen] = useState(hasMissingSettings);
  if (settings.length === 0) return null;
  return (
    <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary class="fold">
        {settings.length === 1 ? '1 setting' : `${settings.length} settings`}
        {hasMissingSettings && <span class="needs">needs settings</span>}
      </summary>
      {open && <Form plugin={plugin.name} settings={settings} act={act} />}
    </details>
  );
}

interface FormProps {
  readonly plugin: string;
  readonly settings: readonly SettingView[];
  readonly act: SendAction;
}

function Form({ plugin, settings, act }: FormProps): VNode {
  const [drafts, setDrafts] = useState<Readonly<Record<string, Draft>>>({});
  const [saved, setSaved] = useState(false);
  const { isBusy, error, run } = usePanelAction(act);
  const failedSetting = findSettingOfError(error, settings);
  const changedSettings = settings.filter((setting) => isChanged(setting, drafts[setting.key]));
  const changeDraft = (key: string, draft: Draft) => {
    setSaved(false);
    setDrafts((oldDrafts) => ({ ...oldDrafts, [key]: draft }));
  };
  const save = async () => {
    const settingValues = Object.fromEntries(
      changedSettings.map((setting) => [setting.key, readDraftValue(setting, drafts[setting.key])]),
    );
    const { error } = await run({ op: 'settings', params: { plugin, values: settingValues } });
    if (error !== undefined) return;
    setDrafts({});
    setSaved(true);
  };
  return (
    <form
      class="settings"
      onSubmit={(event) => {
        event.preventDefault();
        if (changedSettings.length > 0) void save();
      }}
    >
      {settings.map((setting) => (
        <Field
          key={setting.key}
          id={`${plugin}-${setting.key}`}
          setting={setting}
          draft={drafts[setting.key] ?? makeDraft(setting)}
          onType={(draft) => changeDraft(setting.key, draft)}
          error={failedSetting?.key === setting.key ? failedSetting.text : ''}
        />
      ))}
      <div class="save">
        <button type="submit" disabled={isBusy || changedSettings.length === 0}>
          Save
        </button>
        <span role="status">{saved && changedSettings.length === 0 && 'Saved'}</span>
      </div>
      <ErrorText text={failedSetting ? '' : error} />
    </form>
  );
}

interface FieldProps {
  readonly id: string;
  readonly setting: SettingView;
  readonly draft: Draft;
  readonly error: string;
  onType(draft: Draft): void;
}

function Field({ id, setting, draft, error, onType }: FieldProps): VNode {
  const { label, description, required } = setting;
  const hasRows = typeof draft !== 'string';
  const name = removeHiddenCharacters(label) || setting.key;
  return (
    <div class="field">
      {hasRows ? <span id={id}>{name}</span> : <label for={id}>{name}</label>}
      {required && <span class="required"> required</span>}
      {setting.withheld && setting.set && (
        <p class="note">
          The plugin starts after the page’s scripts, so it gets this secret only if you allow it below.
        </p>
      )}
      {description && <p id={`${id}-about`}>{removeHiddenCharacters(description)}</p>}
      {hasRows ? (
        <Urls id={id} rows={draft} setting={setting} onType={onType} />
      ) : (
        <SingleValue id={id} setting={setting} text={draft} onType={onType} isWrong={error !== ''} />
      )}
      {error && (
        <p class="error" role="alert" id={`${id}-error`}>
          {error}
        </p>
      )}
    </div>
  );
}

interface SingleValueProps {
  readonly id: string;
  readonly setting: SettingView;
  readonly text: string;
  readonly isWrong: boolean;
  onType(text: string): void;
}

function SingleValue({ id, setting, text, isWrong, onType }: SingleValueProps): VNode {
  const describedBy = [setting.description && `${id}-about`, isWrong && `${id}-error`].filter(Boolean).join(' ');
  const commonProps = {
    id,
    'aria-describedby': describedBy || undefined,
    'aria-invalid': isWrong,
    'aria-required': setting.required === true,
  };
  const options = listOptions(setting);
  if (options) {
    return (
      <select {...commonProps} value={text} onChange={(event) => onType(event.currentTarget.value)}>
        <option value="">not set</option>
        {options.map((option) => (
          <option key={option} value={option}>
            {setting.type === 'boolean' ? formatYesNo(option) : removeHiddenCharacters(option)}
          </option>
        ))}
      </select>
    );
  }
  if (setting.secret) return <Secret commonProps={commonProps} setting={setting} text={text} onType={onType} />;
  return (
    <span class="one">
      <input
        {...commonProps}
        type="text"
        inputMode={setting.type === 'number' ? 'decimal' : 'text'}
        value={text}
        placeholder={removeHiddenCharacters(setting.placeholder ?? '')}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => onType(event.currentTarget.value)}
      />
    </span>
  );
}

interface SecretProps extends Pick<SingleValueProps, 'setting' | 'text' | 'onType'> {
  readonly commonProps: { readonly id: string };
}

/** The panel never receives the value of a secret setting; the user can only replace or remove the secret. */
function Secret({ commonProps, setting, text, onType }: SecretProps): VNode {
  const isCleared = text === ClearedSecret;
  const hasStoredValue = setting.set && !isCleared;
  return (
    <span class="one">
      <input
        {...commonProps}
        type="password"
        value={isCleared ? '' : text}
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
        <button type="button" aria-label={`Clear ${setting.key}`} onClick={() => onType(ClearedSecret)}>
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
  readonly rows: readonly UrlRow[];
  onType(rows: readonly UrlRow[]): void;
}

/** Urls shows the input fields of a `url` setting: one row with a name and a URL for each instance of the site. */
function Urls({ id, setting, rows, onType }: UrlsProps): VNode {
  const setRow = (index: number, changes: Partial<UrlRow>) =>
    onType(rows.map((row, i) => (i === index ? { ...row, ...changes } : row)));
  const rowLabel = removeHiddenCharacters(setting.label) || setting.key;
  return (
    <fieldset class="urls" aria-labelledby={id}>
      {rows.map((row, i) => (
        <div key={i}>
          <input
            class="instance"
            aria-label={`Name of site ${i + 1} of ${rowLabel}`}
            value={row.name}
            placeholder="name"
            autocomplete="off"
            spellcheck={false}
            onInput={(event) => setRow(i, { name: event.currentTarget.value })}
          />
          <input
            aria-label={`URL of site ${i + 1} of ${rowLabel}`}
            type="text"
            inputMode="url"
            value={row.url}
            placeholder={removeHiddenCharacters(setting.placeholder ?? '') || 'https://'}
            autocomplete="off"
            spellcheck={false}
            onInput={(event) => setRow(i, { url: event.currentTarget.value })}
          />
          <button
            type="button"
            aria-label={`Remove site ${i + 1} of ${rowLabel}`}
            onClick={() => onType(rows.filter((_, at) => at !== i))}
          >
            ×
          </button>
        </div>
      ))}
      <button type="button" onClick={() => onType([...rows, { name: rows.length === 0 ? 'default' : '', url: '' }])}>
        Add a site
      </button>
    </fieldset>
  );
}

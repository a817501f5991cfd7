import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { PluginView } from '../../../wire/wire.gen.ts';
import { ErrorText } from './choice.tsx';
import { usePanelAction } from './panel-action.ts';
import type { SendAction } from './requests.ts';
import { describeInstallation, describeUpdate } from './review-words.ts';
import { removeHiddenCharacters } from './wording.ts';

export interface Proposal {
  readonly package: string;
}

interface InstallProps {
  /** startsOpen expands the installation form at first, because no plugin is installed yet. */
  readonly startsOpen: boolean;
  readonly proposal: Proposal | undefined;
  onInstalled(plugin: string): void;
  readonly act: SendAction;
}

export function InstallForm({ startsOpen, proposal, onInstalled, act }: InstallProps): VNode {
  const [open, setOpen] = useState(startsOpen);
  const [packageText, setPackageText] = useState('');
  const [installResult, setResult] = useState('');
  const detailsRef = useRef<HTMLDetailsElement>(null);
  const input = useRef<HTMLInputElement>(null);
  const { isBusy, error, run } = usePanelAction(act);
  useEffect(() => {
    if (!proposal || !detailsRef.current) return;
    detailsRef.current.open = true; // a hidden input cannot get the focus
    setPackageText(proposal.package);
    input.current?.focus();
  }, [proposal]);
  const install = async () => {
    setResult('');
    const { installed } = await run({ op: 'installPlugin', package: packageText.trim() });
    if (!installed) return;
    setPackageText('');
    setResult(describeInstallation(installed));
    onInstalled(installed.plugin);
  };
  return (
    <details class="install" ref={detailsRef} open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary class="fold">Install a plugin</summary>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (packageText.trim() !== '' && !isBusy) void install();
        }}
      >
        <label for="install-package">Name of a package, or path of a folder or .tgz file</label>
        <div class="one">
          <input
            id="install-package"
            ref={input}
            placeholder="slack or /home/ada/messages"
            value={packageText}
            spellcheck={false}
            autocomplete="off"
            onInput={(event) => setPackageText(event.currentTarget.value)}
          />
          <button type="submit" disabled={isBusy || packageText.trim() === ''}>
            {isBusy ? 'Installing…' : 'Install'}
          </button>
        </div>
      </form>
      <ErrorText text={error} />
      <p class="note result" role="status">
        {installResult}
      </p>
      <p class="note">
        No script of the package runs, and its tools run only after your review. Find plugins with{' '}
        <code>opentabs plugin search WORD</code>.
      </p>
    </details>
  );
}

export function PackageActions({ plugin, act }: { readonly plugin: PluginView; readonly act: SendAction }): VNode {
  const [open, setOpen] = useState(false);
  const [installResult, setResult] = useState('');
  const { isBusy, error, run } = usePanelAction(act);
  const update = async () => {
    setResult('');
    const { updated } = await run({ op: 'updatePlugin', plugin: plugin.name });
    if (updated) setResult(describeUpdate(updated));
  };
  return (
    <details class="package" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary class="fold">{plugin.source === 'npm' ? 'Update or remove' : 'Remove'}</summary>
      {open && (
        <>
          <div class="one">
            {plugin.source === 'npm' && (
              <button
                type="button"
                aria-label={`Update ${plugin.name}`}
                disabled={isBusy}
                onClick={() => void update()}
              >
                {isBusy ? 'Checking…' : 'Update'}
              </button>
            )}
            <RemoveButton
              name={plugin.name}
              title={removeHiddenCharacters(plugin.displayName) || plugin.name}
              act={act}
            />
          </div>
          <ErrorText text={error} />
          <p class="note result" role="status">
            {installResult}
          </p>
        </>
      )}
    </details>
  );
}

interface RemoveButtonProps {
  readonly name: string;
  readonly title: string;
  readonly act: SendAction;
}

/** RemoveButton removes a plugin after the user has confirmed with a second click. */
export function RemoveButton({ name, title, act }: RemoveButtonProps): VNode {
  const [isAsking, setAsking] = useState(false);
  const cancelButton = useRef<HTMLButtonElement>(null);
  const { isBusy, error, run } = usePanelAction(act);
  useEffect(() => {
    if (isAsking) cancelButton.current?.focus();
  }, [isAsking]);
  const remove = async () => {
    const { error } = await run({ op: 'removePlugin', plugin: name });
    if (error === undefined) setAsking(false);
  };
  if (!isAsking) {
    return (
      <button type="button" aria-label={`Remove ${name}`} onClick={() => setAsking(true)}>
        Remove
      </button>
    );
  }
  return (
    <fieldset class="confirm" aria-label={`Remove ${name}`}>
      <p>Remove {title} with its review, permissions and settings? A folder that you added keeps its files.</p>
      <div class="answers">
        <button type="button" ref={cancelButton} disabled={isBusy} onClick={() => setAsking(false)}>
          Cancel
        </button>
        <button type="button" class="remove" disabled={isBusy} onClick={() => void remove()}>
          Remove
        </button>
      </div>
      <ErrorText text={error} />
    </fieldset>
  );
}

import type { VNode } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { PluginView } from '../../../wire/wire.gen.ts';
import { ErrorText } from './choice.tsx';
import { usePanelAction } from './panel-action.ts';
import type { SendAction } from './requests.ts';
import { describeInstallation, describeUpdate } from './review-words.ts';
import { removeHiddenCharacters } from './wording.ts';

export interface InstallProposal {
  readonly package: string;
}

interface InstallProps {
  /** startsOpen expands the installation form at first, because no plugin is installed yet. */
  readonly startsOpen: boolean;
  readonly installProposal: InstallProposal | undefined;
  onInstalled(plugin: string): void;
  readonly sendAction: SendAction;
}

export function InstallForm({ startsOpen, installProposal, onInstalled, sendAction }: InstallProps): VNode {
  const [isOpen, setOpen] = useState(startsOpen);
  const [packageText, setPackageText] = useState('');
  const [installResult, setResult] = useState('');
  const detailsRef = useRef<HTMLDetailsElement>(null);
  const input = useRef<HTMLInputElement>(null);
  const { isBusy, error, runAction } = usePanelAction(sendAction);
  useLayoutEffect(() => {
    if (!installProposal || !detailsRef.current) return;
    detailsRef.current.open = true; // a hidden input cannot get the focus
    setPackageText(installProposal.package);
    input.current?.focus();
  }, [installProposal]);
  const installPlugin = async () => {
    setResult('');
    const { installed: installedPlugin } = await runAction({ op: 'installPlugin', package: packageText.trim() });
    if (!installedPlugin) return;
    setPackageText('');
    setResult(describeInstallation(installedPlugin));
    onInstalled(installedPlugin.plugin);
  };
  return (
    <details class="install" ref={detailsRef} open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary class="fold">Install a plugin</summary>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (packageText.trim() !== '' && !isBusy) void installPlugin();
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
      <ErrorText errorText={error} />
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

export function PackageActions({
  plugin,
  sendAction,
}: {
  readonly plugin: PluginView;
  readonly sendAction: SendAction;
}): VNode {
  const [isOpen, setOpen] = useState(false);
  const [installResult, setResult] = useState('');
  const { isBusy, error, runAction } = usePanelAction(sendAction);
  const updatePlugin = async () => {
    setResult('');
    const { updated } = await runAction({ op: 'updatePlugin', plugin: plugin.name });
    if (updated) setResult(describeUpdate(updated));
  };
  return (
    <details class="package" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary class="fold">{plugin.source === 'npm' ? 'Update or remove' : 'Remove'}</summary>
      {isOpen && (
        <>
          <div class="one">
            {plugin.source === 'npm' && (
              <button
                type="button"
                aria-label={`Update ${plugin.name}`}
                disabled={isBusy}
                onClick={() => void updatePlugin()}
              >
                {isBusy ? 'Checking…' : 'Update'}
              </button>
            )}
            <RemoveButton
              name={plugin.name}
              title={removeHiddenCharacters(plugin.displayName) || plugin.name}
              sendAction={sendAction}
            />
          </div>
          <ErrorText errorText={error} />
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
  readonly sendAction: SendAction;
}

/** RemoveButton removes a plugin after the user has confirmed with a second click. */
export function RemoveButton({ name, title, sendAction }: RemoveButtonProps): VNode {
  const [isConfirming, setIsConfirming] = useState(false);
  const cancelButton = useRef<HTMLButtonElement>(null);
  const { isBusy, error, runAction } = usePanelAction(sendAction);
  useLayoutEffect(() => {
    if (isConfirming) cancelButton.current?.focus();
  }, [isConfirming]);
  const removePlugin = async () => {
    const { error } = await runAction({ op: 'removePlugin', plugin: name });
    if (error === undefined) setIsConfirming(false);
  };
  if (!isConfirming) {
    return (
      <button type="button" aria-label={`Remove ${name}`} onClick={() => setIsConfirming(true)}>
        Remove
      </button>
    );
  }
  return (
    <fieldset class="confirm" aria-label={`Remove ${name}`}>
      <p>Remove {title} with its review, permissions and settings? A folder that you added keeps its files.</p>
      <div class="answers">
        <button type="button" ref={cancelButton} disabled={isBusy} onClick={() => setIsConfirming(false)}>
          Cancel
        </button>
        <button type="button" class="remove" disabled={isBusy} onClick={() => void removePlugin()}>
          Remove
        </button>
      </div>
      <ErrorText errorText={error} />
    </fieldset>
  );
}

/** Simulates a plugin's author: creates a plugin with `plugin create` and runs `plugin dev` in its folder. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CommandResult, runOrThrow, type StartedCommand, startOpentabs, stopProcess } from './process.ts';
import type { Stack } from './stack.ts';
import { waitFor } from './wait.ts';

export interface PluginAuthor {
  readonly pluginFolder: string;
  readonly devCommand: StartedCommand;
  /** The text to replace must occur exactly once in the source file. */
  replaceText(file: string, oldText: string, replacementText: string): void;
  waitForBuilds(times: number): Promise<void>;
  end(): Promise<CommandResult>;
}

export async function startPluginDevelopment(stack: Stack, name: string): Promise<PluginAuthor> {
  await runOrThrow(['plugin', 'create', name, '--domain', '127.0.0.1', '--dir', stack.homeFolder], stack.env);
  const pluginFolder = join(stack.homeFolder, name);
  const devCommand = startOpentabs(['plugin', 'dev', pluginFolder], stack.env);
  await waitFor('plugin dev to finish its first build', () => devCommand.stderr().includes('waiting for changes'));
  await stack.page.reload(); // a plugin does not run in pages that were open before the plugin was added
  await waitFor('the plugin to be live in the page', async () =>
    (await stack.listTabs()).some((tab) => JSON.stringify(tab.plugins ?? []).includes(`"${name}"`)),
  );
  return {
    pluginFolder,
    devCommand,
    replaceText(file, oldText, replacementText) {
      const path = join(pluginFolder, file);
      const fileText = readFileSync(path, 'utf8');
      if (fileText.split(oldText).length !== 2) throw new Error(`${file} does not contain ${oldText} exactly once`);
      writeFileSync(
        path,
        fileText.replace(oldText, () => replacementText),
      );
    },
    async waitForBuilds(times) {
      await waitFor(`${times} builds`, () => devCommand.stdout().split('\nbuilt ').length >= times);
    },
    async end() {
      await stopProcess(devCommand, 'SIGINT');
      return await devCommand.commandResult;
    },
  };
}

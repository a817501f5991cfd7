import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repositoryRoot, runChecked } from './process.ts';

/** messagesSources are the folders whose files together are the source of the test plugin "messages". */
const messagesSources = ['sdk-ts/examples/messages', 'sdk-ts/examples/patterns', 'e2e/testdata/messages'];

/**
 * copyMessagesPlugin copies the source of the test plugin "messages" to a folder. The test plugin combines two examples
 * of the documentation with tools that only tests need.
 */
export function copyMessagesPlugin(folder: string): void {
  copySources(messagesSources, folder);
}

function copySources(sources: readonly string[], folder: string): void {
  for (const source of sources) cpSync(join(repositoryRoot, source), folder, { recursive: true });
}

/** builtPlugins are the folders of built plugins, by their sources. */
const builtPlugins = new Map<string, Promise<string>>();

/**
 * copyBuiltPlugin copies a plugin to a folder, together with the files that `opentabs plugin build` writes. sources are
 * folders of this repository, by default those of the plugin "messages". The first call in a process builds the plugin.
 */
export async function copyBuiltPlugin(
  folder: string,
  env: Readonly<Record<string, string>>,
  sources: readonly string[] = messagesSources,
): Promise<void> {
  const key = sources.join(' ');
  const build = builtPlugins.get(key) ?? buildPlugin(sources, env);
  builtPlugins.set(key, build);
  cpSync(await build, folder, { recursive: true });
}

/** buildPlugin builds a plugin in a temporary folder, which is removed when the process exits. */
async function buildPlugin(sources: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'opentabs-plugin-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  copySources(sources, folder);
  await runChecked(['plugin', 'build', folder], env);
  return folder;
}

import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repositoryRoot, runChecked } from './process.ts';

const messagesSources = ['sdk-ts/examples/messages', 'sdk-ts/examples/patterns', 'e2e/testdata/messages'];

export function copyMessagesPlugin(folder: string): void {
  copySources(messagesSources, folder);
}

function copySources(sourcePaths: readonly string[], folder: string): void {
  for (const source of sourcePaths) cpSync(join(repositoryRoot, source), folder, { recursive: true });
}

const builtPlugins = new Map<string, Promise<string>>();

/** copyBuiltPlugin builds the plugin on the first call in a process. */
export async function copyBuiltPlugin(
  folder: string,
  env: Readonly<Record<string, string>>,
  sourcePaths: readonly string[] = messagesSources,
): Promise<void> {
  const key = sourcePaths.join(' ');
  const build = builtPlugins.get(key) ?? buildPlugin(sourcePaths, env);
  builtPlugins.set(key, build);
  cpSync(await build, folder, { recursive: true });
}

async function buildPlugin(sourcePaths: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'opentabs-plugin-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  copySources(sourcePaths, folder);
  await runChecked(['plugin', 'build', folder], env);
  return folder;
}

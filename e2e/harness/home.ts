/** Creates the home folder of an opentabs installation for a test. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addClient } from './daemon-api.ts';
import { repositoryRoot, runOrThrow } from './process.ts';

export interface HomeOptions {
  readonly plugins?: readonly HomePlugin[];
  /** clientName is the name of a client that may call tools. Without a name, the home folder has no client. */
  readonly clientName?: string;
  /** installFlags are flags of `opentabs extension install`. */
  readonly installFlags?: readonly string[];
}

export interface HomePlugin {
  /** folder is relative to the home folder. */
  readonly folder: string;
  /** sources are folders of this repository whose files are copied into the folder of the plugin. */
  readonly sources: readonly string[];
  readonly permission?: 'off' | 'ask' | 'auto';
}

export interface Home {
  readonly extensionFolder: string;
  readonly token: string;
  /** clientToken is empty if the home folder has no client. */
  readonly clientToken: string;
}

interface HomeTemplate {
  readonly folder: string;
  readonly clientToken: string;
}

const messagesSources = ['sdk-ts/examples/messages', 'sdk-ts/examples/patterns', 'e2e/testdata/messages'];

export const messagesPlugin: HomePlugin = { folder: 'messages-plugin', sources: messagesSources };

const extensionFolderName = 'unpacked';

const homeTemplates = new Map<string, Promise<HomeTemplate>>();

/**
 * fillHome fills an empty folder. The CLI commands for one home folder use 2 s of CPU time, so a test process runs the
 * commands once for each kind of home folder, and copies the result. Copies have the same tokens.
 */
export async function fillHome(homeFolder: string, port: number, options: HomeOptions = {}): Promise<Home> {
  const key = JSON.stringify(options);
  const templatePromise = homeTemplates.get(key) ?? makeHomeTemplate(options);
  homeTemplates.set(key, templatePromise);
  const template = await templatePromise;
  cpSync(template.folder, homeFolder, { recursive: true });
  // The files in the home folder contain the paths of the extension and of the plugins.
  for (const { name } of readdirSync(homeFolder, { withFileTypes: true }).filter((entry) => entry.isFile())) {
    replaceInFile(join(homeFolder, name), template.folder, homeFolder);
  }
  const extensionFolder = join(homeFolder, extensionFolderName);
  replaceInFile(join(extensionFolder, 'connection.json'), `"port":${placeholderPort},`, `"port":${port},`);
  return {
    extensionFolder,
    token: readFileSync(join(homeFolder, 'token'), 'utf8').trim(),
    clientToken: template.clientToken,
  };
}

const placeholderPort = 9;

async function makeHomeTemplate({ plugins = [], clientName, installFlags = [] }: HomeOptions): Promise<HomeTemplate> {
  const folder = mkdtempSync(join(tmpdir(), 'opentabs-home-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const env = { OPENTABS_HOME: folder, OPENTABS_PORT: String(placeholderPort), NO_COLOR: '1' };
  for (const { folder: pluginName, sources, permission = 'auto' } of plugins) {
    const pluginFolder = join(folder, pluginName);
    copySources(sources, pluginFolder);
    await runOrThrow(['plugin', 'build', pluginFolder], env);
    await runOrThrow(['plugin', 'add', pluginFolder, '--permission', permission], env);
  }
  await runOrThrow(['extension', 'install', '--dir', join(folder, extensionFolderName), ...installFlags], env);
  const clientToken = clientName === undefined ? '' : await addClient(env, clientName);
  rmSync(join(folder, 'plugin-index'), { force: true }); // the index contains the inodes of the template's files
  return { folder, clientToken };
}

export function copyMessagesPlugin(folder: string): void {
  copySources(messagesSources, folder);
}

function copySources(sources: readonly string[], folder: string): void {
  for (const source of sources) cpSync(join(repositoryRoot, source), folder, { recursive: true });
}

function replaceInFile(file: string, oldText: string, newText: string): void {
  const fileText = readFileSync(file, 'utf8');
  if (fileText.includes(oldText))
    writeFileSync(
      file,
      fileText.replaceAll(oldText, () => newText),
    );
}

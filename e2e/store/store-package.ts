/** Builds the extension package for extension stores, as `make store` does. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../harness/process.ts';

export function unpackStorePackage(folder: string): void {
  const packageFolder = `${folder}-package`;
  execFileSync('go', ['run', './internal/release', '-store', '-out', packageFolder], {
    cwd: repositoryRoot,
    stdio: 'inherit',
  });
  const archive = readdirSync(packageFolder).find((name) => name.endsWith('_store.zip'));
  if (archive === undefined) throw new Error(`no package in ${packageFolder}`);
  mkdirSync(folder);
  execFileSync('unzip', ['-q', join(packageFolder, archive), '-d', folder]);
}

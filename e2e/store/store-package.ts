/** Builds the extension package for extension stores, as `make store` does. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../harness/process.ts';

export function unpackStorePackage(folder: string): void {
  const out = `${folder}-package`;
  execFileSync('go', ['run', './internal/release', '-store', '-out', out], { cwd: repositoryRoot, stdio: 'inherit' });
  const archive = readdirSync(out).find((name) => name.endsWith('_store.zip'));
  if (archive === undefined) throw new Error(`no package in ${out}`);
  mkdirSync(folder);
  execFileSync('unzip', ['-q', join(out, archive), '-d', folder]);
}

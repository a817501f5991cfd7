import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from './process.ts';

/**
 * copyMessagesPlugin copies the source of the test plugin "messages" to a folder. The test plugin combines two examples
 * of the documentation with tools that only tests need.
 */
export function copyMessagesPlugin(folder: string): void {
  for (const source of ['sdk-ts/examples/messages', 'sdk-ts/examples/patterns', 'e2e/testdata/messages'])
    cpSync(join(repositoryRoot, source), folder, { recursive: true });
}

/**
 * Runs the test files in the list $TEST_FILES, each as a suite named by its path. Processes with the same list share
 * the work: each process claims its next file when its previous file has ended. A folder in $TEST_FILES-claimed marks a
 * claimed file. The file $TEST_FILES-ended lists the ended files.
 */
import { appendFileSync, mkdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { after, suite } from 'node:test';
import { pathToFileURL } from 'node:url';

const list = process.env.TEST_FILES;
for (const file of readFileSync(list, 'utf8').trim().split('\n')) {
  if (!claim(file)) continue;
  await new Promise((finish) => {
    suite(file, async () => {
      after(finish);
      await import(pathToFileURL(resolve(file)).href);
    });
  });
  appendFileSync(`${list}-ended`, `${file}\n`);
}

/** Only one process can create the folder that marks a file as claimed. */
function claim(file) {
  try {
    mkdirSync(`${list}-claimed/${encodeURIComponent(file)}`);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

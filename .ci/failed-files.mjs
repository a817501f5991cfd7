/** A reporter of node:test that writes the path of each test file with a failed test, one per line. */
// biome-ignore lint/style/noDefaultExport: node:test loads the default export of a reporter
export default async function* reportFailedFiles(events) {
  const files = new Set();
  for await (const { type, data } of events) if (type === 'test:fail') files.add(data.file ?? data.name);
  for (const file of files) yield `${file}\n`;
}

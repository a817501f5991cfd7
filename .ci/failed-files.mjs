/** A reporter of node:test that writes the names of the failed suites at the top level, which are paths of test files. */
// biome-ignore lint/style/noDefaultExport: node:test loads the default export of a reporter
export default async function* reportFailedFiles(events) {
  const names = new Set();
  for await (const { type, data } of events) if (type === 'test:fail' && data.nesting === 0) names.add(data.name);
  for (const name of names) yield `${name}\n`;
}

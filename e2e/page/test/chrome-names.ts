/** Compares the accessible names that the page script computes with the names in Chrome's accessibility tree. */
import type { LabPage } from './page-lab.ts';

export interface NameComparison {
  readonly equalCount: number;
  readonly nameDifferences: readonly string[];
}

/** compareNames compares the names of the element with the ID "x" in each page of `cases`. */
export async function compareNames(page: LabPage, nameCases: readonly string[]): Promise<NameComparison> {
  await page.session.sendCommand('Accessibility.enable');
  const nameDifferences: string[] = [];
  for (const html of nameCases) {
    await page.evaluateInPage(`document.body.setHTMLUnsafe(${JSON.stringify(html)})`);
    const chromeName = (await readChromeName(page)).replaceAll('\u200b', '');
    const { matches } = await page.callForResult('find', { selector: '#x' });
    const elementRef = Object(matches[0]).ref;
    const name =
      elementRef === undefined
        ? '(not found)'
        : (await page.callForResult('describe', { target: elementRef })).elementName;
    if (name !== chromeName)
      nameDifferences.push(`${html}\n  Chrome: ${JSON.stringify(chromeName)}, page script: ${JSON.stringify(name)}`);
  }
  return { equalCount: nameCases.length - nameDifferences.length, nameDifferences };
}

async function readChromeName(page: LabPage): Promise<string> {
  const expression = 'document.getElementById("x") ?? document.querySelector("x-host").shadowRoot.getElementById("x")';
  const { result } = Object(await page.session.sendCommand('Runtime.evaluate', { expression }));
  const params = { objectId: result.objectId, fetchRelatives: false };
  const { nodes } = Object(await page.session.sendCommand('Accessibility.getPartialAXTree', params));
  return String(nodes[0].name?.value ?? '');
}

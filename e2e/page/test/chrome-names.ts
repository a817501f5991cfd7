/** Compares the accessible names that the page script computes with the names in Chrome's accessibility tree. */
import type { LabPage } from './page-lab.ts';

export interface NameComparison {
  readonly equalNameCount: number;
  readonly differentNames: readonly string[];
}

/** compareNames compares the names of the element with the ID "x" in each page of `nameTestHtml`. */
export async function compareNames(page: LabPage, nameTestHtml: readonly string[]): Promise<NameComparison> {
  await page.session.sendCommand('Accessibility.enable');
  const differentNames: string[] = [];
  for (const html of nameTestHtml) {
    await page.evaluateInPage(`document.body.setHTMLUnsafe(${JSON.stringify(html)})`);
    const nameByChrome = (await readChromeName(page)).replaceAll('\u200b', '');
    const { matches } = await page.callOrThrow('find', { selector: '#x' });
    const elementRef = Object(matches[0]).ref;
    const name =
      elementRef === undefined
        ? '(not found)'
        : (await page.callOrThrow('describe', { target: elementRef })).elementName;
    if (name !== nameByChrome)
      differentNames.push(`${html}\n  Chrome: ${JSON.stringify(nameByChrome)}, page script: ${JSON.stringify(name)}`);
  }
  return { equalNameCount: nameTestHtml.length - differentNames.length, differentNames };
}

async function readChromeName(page: LabPage): Promise<string> {
  const expression = 'document.getElementById("x") ?? document.querySelector("x-host").shadowRoot.getElementById("x")';
  const { result } = Object(await page.session.sendCommand('Runtime.evaluate', { expression }));
  const params = { objectId: result.objectId, fetchRelatives: false };
  const { nodes } = Object(await page.session.sendCommand('Accessibility.getPartialAXTree', params));
  return String(nodes[0].name?.value ?? '');
}

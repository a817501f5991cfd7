// Makes the errors of a choice in a list that does not show the wanted option.
import { PageFailure } from './failure.ts';
import { cleanText, shorten } from './visible-text.ts';

/** ListScrollTimeoutMs limits how long a tool scrolls a list to find an option, in milliseconds. */
export const ListScrollTimeoutMs = 15_000;
const MaxNamedOptions = 20;

export function makeOptionNotFoundFailure(message: string, labels: readonly string[]): PageFailure {
  const names = labels.slice(0, MaxNamedOptions).map((label) => JSON.stringify(shorten(cleanText(label), 60)));
  const moreText = labels.length > MaxNamedOptions ? `, and ${labels.length - MaxNamedOptions} more` : '';
  return new PageFailure('invalid_arguments', message, `the options: ${names.join(', ')}${moreText}`);
}

export function makeOptionNotReachedFailure(value: string, names: readonly string[]): PageFailure {
  const lastName = names.at(-1);
  return new PageFailure(
    'timeout',
    `The option ${JSON.stringify(value)} was not found in ${ListScrollTimeoutMs / 1000} s. The list is long. Scroll the list with browser_scroll and click the option.`,
    lastName === undefined ? undefined : `the search ended at the option: ${shorten(lastName, 60)}`,
  );
}

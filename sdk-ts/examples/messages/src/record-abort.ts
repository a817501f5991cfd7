/** Writes why a call was stopped where the page's own code sees it: the attribute data-aborted of <html>. */
export function recordAbort(signal: AbortSignal | undefined): void {
  const record = () => {
    const reason: unknown = signal?.reason;
    document.documentElement.dataset.aborted = reason instanceof Error ? reason.message : String(reason);
  };
  if (signal?.aborted) record();
  else signal?.addEventListener('abort', record, { once: true });
}

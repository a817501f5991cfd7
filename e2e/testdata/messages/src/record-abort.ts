/** Writes the reason of an abort to the attribute data-aborted of <html>, where the page's scripts can read it. */
export function recordAbort(signal: AbortSignal | undefined): void {
  const record = () => {
    const reason: unknown = signal?.reason;
    document.documentElement.dataset.aborted = reason instanceof Error ? reason.message : String(reason);
  };
  if (signal?.aborted) record();
  else signal?.addEventListener('abort', record, { once: true });
}

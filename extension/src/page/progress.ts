/** PageProgress is a progress report of a running page script operation. */
export interface PageProgress {
  /** The worker does not send a report with an empty message to the client. */
  readonly message: string;
  readonly progress?: number;
  /** `total` is absent if the total amount of work is unknown. */
  readonly total?: number;
  /**
   * doneSteps is the number of form fields that the operation has filled so far. doneSteps is absent if the report does
   * not mean that the operation has begun to act on the page.
   */
  readonly doneSteps?: number;
}

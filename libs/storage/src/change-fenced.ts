import { ServiceError } from '@pitboss/errors/service-error'

/**
 * Changes a document that others change, too: decides again on a fresh copy each time somebody else was
 * first.
 * @param change writes the change under the version that it read; null when another write was first
 * @param reread the document as it is now
 * @throws ServiceError SERVICE_UNAVAILABLE when others were first `triesMax` times
 */
export async function changeFenced<Document, Result>({
  document,
  change,
  reread,
  triesMax,
  name,
}: {
  document: Document
  change: (current: Document) => Promise<Result | null>
  reread: (stale: Document) => Promise<Document>
  triesMax: number
  /** Name of the document that kept changing, for the log. */
  name: string
}): Promise<Result> {
  let current = document
  for (let tries = 0; tries < triesMax; tries++) {
    const result = await change(current)
    if (result !== null) return result
    current = await reread(current)
  }
  throw new ServiceError('SERVICE_UNAVAILABLE', {
    retryAfterS: 1,
    cause: new Error(`${name} kept changing`),
  })
}

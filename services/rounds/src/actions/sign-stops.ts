import { failpoint } from '@pitboss/runtime/failpoint'
import { stopRecordText } from '../records/present-stop.ts'
import type { StopDocument, StopsStore } from '../storage/stops-store.ts'

/**
 * Creates the signing of stops whose rounds have ended: first the bytes of the record are kept, then their
 * signature. A process that dies between, or a second replica, changes neither.
 * Source: docs/contract.md, section 4, "Stops".
 * @param sign the signature of a record's text as a compact JWS
 */
export function createSignStops({
  stops,
  sign,
}: {
  stops: Pick<StopsStore, 'findUnsigned' | 'keepRecord' | 'keepSignature'>
  sign: (text: string) => Promise<string>
}) {
  /** Signs what waits. @returns how many waited @throws the last failure, after all were tried. */
  return async function signStops(stopping: AbortSignal): Promise<number> {
    let failure: unknown = null
    const waiting = await stops.findUnsigned()
    for (const stopped of waiting) {
      if (stopping.aborted) break
      try {
        await signOne(stopped)
      } catch (error) {
        failure = error
      }
    }
    if (failure !== null) throw failure
    return waiting.length
  }

  async function signOne(stopped: StopDocument): Promise<void> {
    const text = stopped.record?.text ?? stopRecordText(stopped)
    // Somebody else was faster, or the stop has changed: the next look signs what is kept then.
    if (stopped.record === undefined && !(await stops.keepRecord(stopped, text))) return
    await failpoint('rounds.stop-record-kept')
    const jws = await sign(text)
    await failpoint('rounds.stop-record-signed')
    await stops.keepSignature(stopped._id, jws)
  }
}

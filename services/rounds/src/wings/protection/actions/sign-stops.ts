import { signStopRecord } from '@pitboss/contracts/calls/auth'
import { failpoint } from '@pitboss/runtime/failpoint'
import type { ProtectionContext } from '../context.ts'
import { stopRecordText } from '../records/present-stop.ts'
import type { StopDocument } from '../storage/stops-store.ts'

/**
 * Signs the stops whose rounds have ended: first the bytes of the record are kept, then their signature. A
 * process that dies between, or a second replica, changes neither. Source: docs/contract.md, section 4,
 * "Stops".
 * @returns how many waited
 * @throws the last failure, after all were tried
 */
export async function signStops(context: ProtectionContext, stopping: AbortSignal): Promise<number> {
  let failure: unknown = null
  const waiting = await context.stops.findUnsigned()
  for (const stopped of waiting) {
    if (stopping.aborted) break
    try {
      await signStop(context, stopped)
    } catch (error) {
      failure = error
    }
  }
  if (failure !== null) throw failure
  return waiting.length
}

async function signStop({ stops, bus }: ProtectionContext, stopped: StopDocument): Promise<void> {
  const text = stopped.record?.text ?? stopRecordText(stopped)
  // Another replica was faster, or the stop has changed: the next look signs what is kept then.
  if (stopped.record === undefined && !(await stops.keepRecord(stopped, text))) return
  await failpoint('rounds.stop-record-kept')
  const { jws } = await bus.call(signStopRecord, { text })
  await failpoint('rounds.stop-record-signed')
  await stops.keepSignature(stopped._id, jws)
}

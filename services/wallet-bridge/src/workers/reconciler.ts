import type { Poll } from '@pitboss/runtime/poll'
import type { JobDocument } from '@pitboss/storage/job-store'
import { startJobWorkers } from '@pitboss/storage/start-job-workers'

/** Each reads thousands of movements; more orders wait their turn. */
const placesMax = 2

/** Works on ordered reconciliations, in every replica. */
export function startReconciler<Job extends JobDocument>(
  options: Omit<Parameters<typeof startJobWorkers<Job>>[0], 'placesMax' | 'event'>,
): Poll {
  return startJobWorkers({ ...options, placesMax, event: 'reconciliation.interrupted' })
}

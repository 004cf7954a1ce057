import type { Poll } from '@pitboss/runtime/poll'
import type { JobDocument } from '@pitboss/storage/job-store'
import { startJobWorkers } from '@pitboss/storage/start-job-workers'

/** A burst of a certification opens 50 connections; more orders wait their turn. */
const placesMax = 4

/** Works on ordered certifications, in every replica. */
export function startCertifier<Job extends JobDocument>(
  options: Omit<Parameters<typeof startJobWorkers<Job>>[0], 'placesMax' | 'event'>,
): Poll {
  return startJobWorkers({ ...options, placesMax, event: 'certification.interrupted' })
}

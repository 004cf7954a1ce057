import { errorCatalogue, isErrorCode } from '@pitboss/errors/catalogue'

export type FieldFault = { readonly path: string; readonly message: string }

type Circumstances = {
  retryable?: boolean
  requestId?: string | null
  details?: readonly FieldFault[]
  retryAfterS?: number | null
  cause?: unknown
}

/**
 * An answer that is an error, or no answer. `code` is the service's own, NO_ANSWER or UNREADABLE_ANSWER;
 * `retryAfterS` is the wait in seconds that the service asks for.
 */
export class ApiError extends Error {
  readonly code: string
  readonly retryable: boolean
  readonly requestId: string | null
  readonly details: readonly FieldFault[]
  readonly retryAfterS: number | null

  constructor(code: string, message: string, circumstances: Circumstances = {}) {
    const { retryable = false, requestId = null, details = [], retryAfterS = null, cause } = circumstances
    super(message, { cause })
    this.name = 'ApiError'
    this.code = code
    this.retryable = retryable
    this.requestId = requestId
    this.details = details
    this.retryAfterS = retryAfterS
  }

  /** Whether a detail names this field. */
  names(path: string): boolean {
    return this.details.some((detail) => detail.path === path)
  }

  /** The next step for a person, by the catalogue of errors; null where the message says it all. */
  get remedy(): string | null {
    if (this.code === 'NO_ANSWER') return 'Check the connection, then try again.'
    if (this.code === 'UNREADABLE_ANSWER') return 'Reload the page: it may be older than the service.'
    return isErrorCode(this.code) ? errorCatalogue[this.code].remedy : null
  }
}

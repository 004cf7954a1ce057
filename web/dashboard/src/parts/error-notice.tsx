import { Link } from 'wouter'
import type { ApiError } from '../api/api-error.ts'
import { CopyButton } from './copy-button.tsx'

/** A refusal of the API: message, remedy, code and the request id for support. */
export function ErrorNotice({ error, onRetry }: { error: ApiError | null; onRetry?: () => void }) {
  if (error === null) return null
  const { message, remedy, code, requestId, details, retryAfterS } = error
  const more = details.filter((detail) => !message.includes(detail.message))
  const approval = code === 'APPROVAL_NEEDED' ? details[0]?.message : undefined
  return (
    <div className="notice" data-tone={approval === undefined ? 'problem' : 'waiting'} role="alert">
      <p>
        <strong>{message}</strong>
        {remedy !== null && remedy !== message && <> {remedy}</>}
        {retryAfterS !== null && <> Wait {retryAfterS} s.</>}
      </p>
      {approval !== undefined && (
        <p>
          <Link href={`/approvals/${approval}`}>See it under Approvals</Link>
        </p>
      )}
      {more.length > 0 && (
        <ul>
          {more.map((detail) => (
            <li key={detail.path + detail.message}>
              <code>{detail.path}</code> {detail.message}
            </li>
          ))}
        </ul>
      )}
      <p className="facts">
        <code>{code}</code>
        {requestId !== null && (
          <span>
            Request <code>{requestId}</code> <CopyButton text={requestId} what="request id" />
          </span>
        )}
        {onRetry !== undefined && (
          <button type="button" className="button quiet-button small" onClick={onRetry}>
            Try again
          </button>
        )}
      </p>
    </div>
  )
}

import type { ReturnStream } from '@pitboss/contracts/objects/returns'
import { historyOf, layOutReturn, pictureSize } from '@pitboss/fairness/returns/lay-out-return'

const { width, height, left, right, top, bottom } = pictureSize
/** The titles that a file needs stand in the row already; its letters are smaller than those of a row. */
const [cut, more] = [top - 8, 48]

/**
 * The band of returns that are not ruled out, and the return that was seen, over trials; as in the file of
 * operations.
 */
export function ReturnPicture({ of: stream }: { of: ReturnStream }) {
  const picture = layOutReturn(historyOf(stream))
  if (picture === null) return stream.expected === null ? <p>equally likely parts</p> : null
  const { title, verdict, band, line, heights, from, to } = picture
  const [expected, most, least] = heights
  return (
    <svg
      className="returns"
      viewBox={`${-more} ${cut} ${width + more} ${height - cut}`}
      role="img"
      aria-label={`${title}. ${verdict}`}
    >
      <polygon points={band} />
      <line x1={left} x2={width - right} y1={expected?.y} y2={expected?.y} />
      <polyline points={line} />
      <text x={4 - more} y={(expected?.y ?? 0) + 8}>
        {expected?.text}
      </text>
      <text x={4 - more} y={(most?.y ?? 0) + 16}>
        {most?.text}
      </text>
      <text x={4 - more} y={least?.y}>
        {least?.text}
      </text>
      <text x={left} y={height - bottom + 28}>
        {from}
      </text>
      <text x={width - right} y={height - bottom + 28} textAnchor="end">
        {to}
      </text>
    </svg>
  )
}

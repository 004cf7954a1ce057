import { type History, layOutReturn, pictureSize, type ReturnPicture } from './lay-out-return.ts'

const { width, height, left, right, bottom } = pictureSize

/** The pictures of these bets as one SVG file, below each other; draws have none. */
export function drawReturns(histories: readonly History[]): string {
  const pictures = histories.flatMap((history) => layOutReturn(history) ?? [])
  const panels = pictures.map(
    (picture, at) => `<g transform="translate(0 ${at * height})">${drawPanel(picture)}</g>`,
  )
  const tall = Math.max(1, pictures.length) * height
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${tall}" font-family="system-ui, sans-serif" font-size="12">
<rect width="${width}" height="${tall}" fill="#ffffff"/>
${panels.join('\n')}
</svg>
`
}

function drawPanel({ title, verdict, isAlarm, band, line, heights, from, to }: ReturnPicture): string {
  const [expected, most, least] = heights
  const foot = height - bottom
  return `<text x="${left}" y="16" font-weight="600">${title}</text>
<text x="${left}" y="32" fill="${isAlarm ? '#b00020' : '#444444'}">${verdict}</text>
<polygon points="${band}" fill="#0b63a5" fill-opacity="0.16"/>
<line x1="${left}" x2="${width - right}" y1="${expected?.y}" y2="${expected?.y}" stroke="#444444" stroke-dasharray="4 4"/>
<polyline points="${line}" fill="none" stroke="#0b63a5" stroke-width="2"/>
<text x="8" y="${(expected?.y ?? 0) + 4}">${expected?.text}</text>
<text x="8" y="${(most?.y ?? 0) + 8}" fill="#666666">${most?.text}</text>
<text x="8" y="${least?.y}" fill="#666666">${least?.text}</text>
<text x="${left}" y="${foot + 18}" fill="#666666">${from}</text>
<text x="${width - right}" y="${foot + 18}" text-anchor="end" fill="#666666">${to}</text>`
}

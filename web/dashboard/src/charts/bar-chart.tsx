import { useEffect, useRef, useState } from 'react'
import { type BarOf, layOutBars, size } from './bars.ts'

/** Pixels for a name below the bars. */
const nameWidth = 76

/**
 * Bars over names. The table beside it says the same to who can't see it; each bar tells its value on hover.
 */
export function BarChart({ label, of }: { readonly label: string; readonly of: readonly BarOf[] }) {
  const { around, width } = useWidth()
  const { bars, zero } = layOutBars(of, width)
  const namesMax = Math.max(1, Math.floor((width - 2 * size.left) / nameWidth))
  const every = Math.ceil(bars.length / namesMax)
  const sorted = [...of].sort((a, b) => (a.value < b.value ? -1 : 1))
  const [least, most] = [sorted[0], sorted.at(-1)]
  return (
    <figure className="chart">
      <figcaption>
        {label}
        {most !== undefined && least !== undefined && least !== most && (
          <small>
            highest {most.text} ({most.name}), lowest {least.text} ({least.name})
          </small>
        )}
      </figcaption>
      <svg
        ref={around}
        viewBox={`0 0 ${width} ${size.height}`}
        role="img"
        aria-label={`${label}, as bars; see the table`}
      >
        {bars.map(({ name, text, value, x, y, width: wide, height }, at) => (
          <g key={name} data-sign={value < 0n ? 'minus' : 'plus'}>
            <title>{`${name}: ${text}`}</title>
            <rect
              x={x}
              y={size.top}
              width={wide}
              height={size.height - size.top - size.foot}
              className="room"
            />
            <rect x={x} y={y} width={wide} height={height} />
            {(bars.length - 1 - at) % every === 0 && (
              <text x={x + wide / 2} y={size.height - 6} textAnchor="middle">
                {name}
              </text>
            )}
          </g>
        ))}
        <line x1={size.left} x2={width - size.left} y1={zero} y2={zero} />
      </svg>
    </figure>
  )
}

/** Width of the drawing on the screen, so that its letters keep their size. */
function useWidth() {
  const around = useRef<SVGSVGElement>(null)
  const [width, setWidth] = useState(920)
  useEffect(() => {
    const drawing = around.current
    if (drawing === null) return
    const sized = new ResizeObserver(() => setWidth(Math.max(drawing.clientWidth, 4 * size.left)))
    sized.observe(drawing)
    return () => sized.disconnect()
  }, [])
  return { around, width }
}

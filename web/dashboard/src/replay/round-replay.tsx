import type { Dossier } from '@pitboss/contracts/objects/dossier'
import { useEffect, useMemo, useRef, useState } from 'react'
import './replay.css'
import { type Frame, framesOf } from './frames-of.ts'
import { openStage } from './open-stage.tsx'

/** The round drawn by the play page's own code, moment by moment, and the moments in words. */
export default function RoundReplay({ of: round }: { of: Dossier['round'] }) {
  const frames = useMemo(() => framesOf(round) ?? [], [round])
  const [at, setAt] = useState(frames.length - 1)
  const [playing, setPlaying] = useState(false)
  const frame = frames[at]
  const isLast = at >= frames.length - 1

  useEffect(() => {
    if (!playing || frame === undefined) return undefined
    const timer = setTimeout(() => (isLast ? setPlaying(false) : setAt(at + 1)), isLast ? 0 : frame.forMs)
    return () => clearTimeout(timer)
  }, [playing, frame, isLast, at])

  if (frame === undefined) return null
  const go = (to: number) => {
    setPlaying(false)
    setAt(to)
  }
  return (
    <div className="replay">
      <Stage game={round.game} frame={frame} />
      <div className="replay-side">
        <div className="acts">
          <button
            type="button"
            className="button main-button"
            onClick={() => {
              if (!playing) setAt(0)
              setPlaying(!playing)
            }}
          >
            {playing ? 'Hold' : 'Play'}
          </button>
          <button type="button" className="button" disabled={at === 0} onClick={() => go(at - 1)}>
            Step back
          </button>
          <button type="button" className="button" disabled={isLast} onClick={() => go(at + 1)}>
            Step on
          </button>
        </div>
        <ol aria-label="Moments of the round">
          {frames.map(({ text }, index) => (
            <li key={index} aria-current={index === at ? 'step' : undefined}>
              {text}
            </li>
          ))}
        </ol>
        <p className="quiet">
          Drawn from the record by the code of the play page of this release; the pace is not the player's.
        </p>
      </div>
    </div>
  )
}

/** A picture: what it shows stands in the list beside it, and nothing of it can be pressed. */
function Stage({ game, frame }: { game: string; frame: Frame }) {
  const host = useRef<HTMLDivElement>(null)
  const stage = useRef<ReturnType<typeof openStage> | null>(null)
  useEffect(() => {
    if (host.current === null) return undefined
    const opened = openStage(host.current, game)
    stage.current = opened
    return () => opened.end()
  }, [game])
  useEffect(() => stage.current?.draw(frame), [frame])
  return <div className="replay-stage" ref={host} aria-hidden inert data-testid="replay-stage" />
}

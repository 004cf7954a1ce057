import { scopeName } from '@pitboss/contracts/objects/account'
import { useState } from 'react'
import { scopeTexts } from './scope-texts.ts'

type ScopeFieldsProps = {
  readonly chosen: readonly string[]
  /** The reason why this person can't give a key everything; null for no reason. */
  readonly refused: string | null
  readonly fault: string | undefined
}

/** The scopes of a key as ticks; read them with `readScopes`. */
export function ScopeFields({ chosen, refused, fault }: ScopeFieldsProps) {
  const [everything, setEverything] = useState(chosen.length === 0 && refused === null)
  return (
    <fieldset className="choices">
      <legend>May do</legend>
      <label className="choice">
        <input
          type="radio"
          name="everything"
          value="yes"
          checked={everything}
          disabled={refused !== null}
          onChange={() => setEverything(true)}
        />
        <span>
          Everything
          <small>{refused ?? 'No scopes: whatever a server can do.'}</small>
        </span>
      </label>
      <label className="choice">
        <input
          type="radio"
          name="everything"
          value="no"
          checked={!everything}
          onChange={() => setEverything(false)}
        />
        <span>
          Only this
          <small>The fewer, the less a leaked key can do.</small>
        </span>
      </label>
      {!everything &&
        scopeName.options
          .filter((scope) => scope !== 'history:write')
          .map((scope) => (
            <label className="choice scope" key={scope}>
              <input type="checkbox" name="scopes" value={scope} defaultChecked={chosen.includes(scope)} />
              <span>
                {scopeTexts[scope]}
                <small>
                  <code>{scope}</code>
                </small>
              </span>
            </label>
          ))}
      {fault !== undefined && <p className="fault">{fault}</p>}
    </fieldset>
  )
}

/** The scopes that the ticks say; "only this" without a tick is no key for everything. */
export function readScopes(data: FormData): unknown {
  const scopes = data.getAll('scopes')
  return data.get('everything') === 'yes' ? [] : scopes.length === 0 ? null : scopes
}

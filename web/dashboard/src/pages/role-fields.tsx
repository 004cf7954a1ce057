import { type Role, roleSchema } from '@pitboss/contracts/caller'
import { roleTexts } from './role-texts.ts'

/** The choice of a role, each with what it may. */
export function RoleFields({ chosen }: { chosen: Role }) {
  return (
    <fieldset className="choices">
      <legend>Role</legend>
      {roleSchema.options.toReversed().map((role) => (
        <label className="choice" key={role}>
          <input type="radio" name="role" value={role} defaultChecked={role === chosen} />
          <span>
            {role}
            <small>{roleTexts[role]}</small>
          </span>
        </label>
      ))}
    </fieldset>
  )
}

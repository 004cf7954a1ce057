import { Modal } from '../parts/modal.tsx'
import { keyTexts } from './keys.ts'

/** All keys of the dashboard. */
export default function KeyList({ onClose }: { onClose: () => void }) {
  return (
    <Modal title="Keys of the keyboard" onClose={onClose}>
      <dl className="keys">
        {keyTexts.map(({ shown, does }) => (
          <div key={shown}>
            <dt>
              <kbd>{shown}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <p className="quiet">In a field the keys are letters. Escape closes what is open.</p>
    </Modal>
  )
}

/** Names under which the two processes of the bare read loop find each other. */
export const floorSubject = 'floor.session.show'
export const floorDatabase = 'floor_read'

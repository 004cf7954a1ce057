/** Where the bare read loop finds itself. */
export const floorSubject = 'floor.session.show'
export const floorDatabase = 'floor_read'

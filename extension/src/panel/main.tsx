console.log('panel');

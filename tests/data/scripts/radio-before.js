// What the page of a radio has before its scripts run.
document.getElementById("radio-table").tBodies = [document.createElement("tbody")];
